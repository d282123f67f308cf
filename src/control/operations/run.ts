import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { JsonValue } from "../../contracts/json.ts";
import type { LedgerEntry } from "../../contracts/ledger.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { EvaluationRecord, TrainingResult } from "../../contracts/run.ts";
import { stepStage } from "../../contracts/stages.ts";
import { type Ledger, readLedger } from "../../results/ledger/ledger.ts";
import { readTrajectory } from "../../results/report/read-trajectory.ts";
import { otherEvaluations, ownEvaluations } from "../../run/folder/evaluations.ts";
import { type OpenRun, openRunFolder } from "../../run/folder/open-runs.ts";
import { recordedSteps } from "../../run/folder/recorded-steps.ts";
import { runFolder } from "../../run/folder/run-folder.ts";
import { type RunReference, runReference } from "../../run/folder/run-reference.ts";
import { folderOfStore, joinRuns } from "../../run/folder/store-runs.ts";
import type { ListedTrajectory } from "../../run/projections/listed-trajectory.ts";
import type { TrajectoryDetail } from "../../run/projections/trajectory-detail.ts";
import { findTrajectory } from "../../run/trajectory/find-trajectory.ts";
import { trajectoryReader } from "../../run/trajectory/reader.ts";
import { type ListedVersion, listVersions } from "../../run/versions/list-versions.ts";
import { newestVersion } from "../../run/versions/newest-version.ts";
import type { Told } from "./events.ts";
import { versionFolder } from "./find-version.ts";
import { known, knownError } from "./known-error.ts";
import { listTrajectories, type TrajectoryFilter } from "./list-trajectories.ts";
import { type Overrides, overridesOf, type Pipeline } from "./pipeline.ts";
import { placeRun, type RunPlace } from "./place-run.ts";
import type { RescoredTrajectory } from "./rescore-run.ts";
import { wantedRewards } from "./wanted-rewards.ts";

/** How a run is trained. */
export interface TrainOptions extends Told {
  /** Changes to the plan, as with `everturn resume --set`, even for a run that has ended: `{ steps: 40 }`. */
  set?: Overrides;
  /** Continues with the current workflow code. Running trajectories finish with the code that they started with. */
  upgrade?: boolean;
  /** Path of the Temporal CLI that starts the run's own server. Default: an installed or downloaded one. */
  temporal?: string;
}

/** How a policy is evaluated. */
export interface EvaluateOptions extends Told {
  /** A JSON Lines file of tasks. Default: the pipeline's validation set. */
  tasks?: string;
  /** Use only the first n tasks. */
  limit?: number;
  /** False switches the tools off. */
  tools?: boolean;
  /** A run, by id or folder, whose recorded answers replace tool calls. */
  toolRecordings?: string;
  /** Default: the newest. */
  policyVersion?: number;
  /** Trajectories per task. Default: 1. With several, pass@k and maj@k are measured too. */
  samples?: number;
  /** Sampling temperature. Default: 0 (greedy), or the training temperature if there are several samples. */
  temperature?: number;
  /**
   * Its name. Default: from policy version and time. Using a name again continues that evaluation, or returns
   * its record.
   */
  name?: string;
  /** Path of the Temporal CLI, as for training. */
  temporal?: string;
}

/** Which reward rescores a run's trajectories, and which of them. */
export interface RescoreOptions extends Pick<TrajectoryFilter, "stage" | "task"> {
  /** The reward, as in a pipeline: `"reward-x"`, `{ plugin: "reward-x", config: { … } }`, or a list of these. */
  reward?: JsonValue;
  /** The file of a pipeline whose reward to use. */
  pipeline?: string;
  /** Additional folders to search for plugins. */
  plugins?: readonly string[];
}

/** A run's ledger, checked against its files. It is consistent if there are no `findings`. */
export interface RunLedger extends Ledger {
  /** The fate of each trajectory. */
  entries: LedgerEntry[];
}

/**
 * A run. Its methods read the recorded data when they are called, even while the run is training here or elsewhere. They
 * need no server.
 */
export interface Run {
  readonly id: string;
  /** Its folder, absolute. */
  readonly folder: string;
  /** Reads the current plan. */
  plan(): Promise<Plan>;
  /**
   * Trains the run to its end: a new run from the beginning, an interrupted one from where it stopped, a finished one if
   * `set` adds steps. Starts and stops the run's server and workers. Throws RUN_FAILED, INTERRUPTED, RUN_ALREADY_ACTIVE, and
   * the errors of servers and workers in docs/errors.md.
   */
  train(options?: TrainOptions): Promise<TrainingResult>;
  /**
   * Evaluates its policy on tasks, greedily unless a temperature or several samples are set. Throws POLICY_NOT_FOUND,
   * EVALUATION_NAME_INVALID, EVALUATION_DIFFERS, EVALUATION_SAMPLES_ALIKE, EVALUATION_FAILED, INTERRUPTED.
   */
  evaluate(options?: EvaluateOptions): Promise<EvaluationRecord>;
  /** Returns the metrics of the recorded steps, without the first `after`. */
  steps(after?: number): Promise<StepRecord[]>;
  /** Returns the run's own evaluations by policy version, then those of `evaluate`. */
  evaluations(): Promise<EvaluationRecord[]>;
  /** Iterates over matching finished trajectories, stage by stage. Each is read when the iteration reaches it. */
  trajectories(filter?: TrajectoryFilter): AsyncIterable<ListedTrajectory>;
  /**
   * Reads a whole trajectory, finished or running, by its id or a unique suffix of it. Throws TRAJECTORY_NOT_FOUND,
   * TRAJECTORY_AMBIGUOUS.
   */
  trajectory(id: string): Promise<TrajectoryDetail>;
  /**
   * Reads data that an observation refers to by SHA-256: an image (`media`) or the uncut text (`whole`).
   * Undefined if it is gone.
   */
  bytes(sha256: string): Promise<Uint8Array | undefined>;
  /**
   * Rescores its trajectories with another reward, or with the current code of its own, and returns both scores. The run
   * does not change. Throws WRONG_CONFIGURATION, PIPELINE_NOT_FOUND, and errors of the reward.
   */
  rescore(options?: RescoreOptions): AsyncIterable<RescoredTrajectory>;
  /** Lists the versions of its policy, in order. */
  versions(): Promise<ListedVersion[]>;
  /**
   * Returns the folder of a policy version, in Hugging Face's formats. Default: the newest. Throws
   * POLICY_NOT_FOUND, FILES_GONE.
   */
  policyFolder(version?: number): Promise<string>;
  /** Returns the fate of each trajectory, checked against the run's files, optionally for one step only. */
  ledger(options?: { step?: number }): Promise<RunLedger>;
}

/** How to find a run. */
export interface OpenOptions {
  /** The folder of runs to search for an id. Default: `runs`. */
  runs?: string;
  /** The store that contains the run, `s3://bucket/prefix`, instead of a folder. */
  store?: string;
  /** Receives a notice about each unreadable record. It counts as absent and is recreated. The ledger lists it too. */
  onNotice?: (text: string) => void;
}

/** Creates a run of a pipeline; `train` starts it. Throws PATH_UNUSABLE, STORE_UNUSABLE, DISK_FULL. */
export function createRun(
  { plan }: Pick<Pipeline, "plan">,
  options: RunPlace & Pick<OpenOptions, "onNotice"> = {},
): Promise<Run> {
  return known(async () => runAt(await placeRun(plan, options), options.onNotice));
}

/** Opens a run by its id, or by the path of its folder. Throws RUN_NOT_FOUND, RECORD_CORRUPT. */
export function openRun(named: string, options: OpenOptions = {}): Promise<Run> {
  return known(async () => {
    const runs = options.store === undefined ? (options.runs ?? "runs") : await folderOfStore(options.store);
    await joinRuns(runs, named);
    const reference = runReference(named, runs);
    await openRunFolder(reference.runs, reference.run, () => {}); // reported when they are requested
    return runAt(reference, options.onNotice);
  });
}

function runAt(reference: RunReference, onNotice: (text: string) => void = () => {}): Run {
  const { runs, run: id } = reference;
  const opened = () => openRunFolder(runs, id, ({ notice }) => onNotice(notice));
  const read = <Result>(work: (run: OpenRun) => Promise<Result>) => known(async () => work(await opened()));
  return {
    id,
    folder: runFolder(runs, id).root,
    plan: () => read(async ({ plan }) => plan),
    train: ({ set = {}, ...how } = {}) =>
      known(async () => {
        const { trainRun } = await import("./train-run.ts"); // loads Temporal, which reading does not need
        return trainRun(reference, { ...how, set: overridesOf(set), isGuest: true });
      }),
    evaluate: ({ toolRecordings, ...how } = {}) =>
      known(async () => {
        const { evaluateRun } = await import("./evaluate-run.ts");
        const recordings = toolRecordings === undefined ? undefined : runReference(toolRecordings, runs);
        const { onEvent, signal, temporal, ...asked } = how;
        const told = { onEvent, signal, temporal, isGuest: true };
        const [record] = await evaluateRun(reference, [{ ...asked, recordings }], told);
        return record!;
      }),
    steps: (after) => read(({ store }) => recordedSteps(store, after)),
    evaluations: () => read(evaluationsOf),
    trajectories: (filter) => listed(opened, filter),
    trajectory: (wanted) =>
      read(async (run) => readTrajectory(trajectoryReader(run), await findTrajectory(runs, wanted, run))),
    bytes: (sha256) => read(({ store }) => store.readBytes(sha256)),
    rescore: (options) => rescored(opened, onNotice, options),
    versions: () => read(listVersions),
    policyFolder: (version) => read((run) => versionFolder(run, version ?? "newest")),
    ledger: ({ step } = {}) => read((run) => ledgerOf(run, step)),
  };
}

async function evaluationsOf(run: OpenRun): Promise<EvaluationRecord[]> {
  const own = await ownEvaluations(run, (await newestVersion(run)) ?? 0);
  return [...own, ...(await otherEvaluations(run, own))];
}

async function* rescored(
  open: () => Promise<OpenRun>,
  log: (text: string) => void,
  { reward, ...options }: RescoreOptions = {},
): AsyncGenerator<RescoredTrajectory> {
  try {
    const { rescoreRun } = await import("./rescore-run.ts");
    const run = await open();
    const said = reward === undefined ? options : { ...options, reward: JSON.stringify(reward) };
    yield* rescoreRun(run, await wantedRewards(run, said), { ...options, log });
  } catch (error) {
    throw knownError(error) ?? error;
  }
}

async function* listed(open: () => Promise<OpenRun>, filter?: TrajectoryFilter) {
  try {
    yield* listTrajectories(await open(), filter);
  } catch (error) {
    throw knownError(error) ?? error;
  }
}

async function ledgerOf(run: OpenRun, step: number | undefined): Promise<RunLedger> {
  const entries: LedgerEntry[] = [];
  const ledger = await readLedger(run, {
    stage: step === undefined ? undefined : stepStage(step),
    tell: (told) => void entries.push(...told),
  });
  return { ...ledger, entries };
}
