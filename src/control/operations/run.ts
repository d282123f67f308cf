import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { JsonValue } from "../../contracts/json.ts";
import type { LedgerEntry } from "../../contracts/ledger.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { EvaluationRecord, TrainingResult } from "../../contracts/run.ts";
import { stepStage } from "../../contracts/stages.ts";
import { type Ledger, readLedger } from "../../results/ledger/ledger.ts";
import { readTrajectory, type TrajectoryDetail } from "../../results/report/trajectory-detail.ts";
import { otherEvaluations, ownEvaluations } from "../../run/folder/evaluations.ts";
import { type OpenRun, openRunFolder } from "../../run/folder/open-runs.ts";
import { recordedSteps } from "../../run/folder/recorded-steps.ts";
import { runFolder } from "../../run/folder/run-folder.ts";
import { type RunReference, runReference } from "../../run/folder/run-reference.ts";
import { findTrajectory } from "../../run/trajectory/find-trajectory.ts";
import { trajectoryReader } from "../../run/trajectory/reader.ts";
import { type ListedVersion, listVersions } from "../../run/versions/list-versions.ts";
import { newestVersion } from "../../run/versions/newest-version.ts";
import type { Told } from "./events.ts";
import { versionFolder } from "./find-version.ts";
import { known, knownError } from "./known-error.ts";
import { type ListedTrajectory, listTrajectories, type TrajectoryFilter } from "./list-trajectories.ts";
import { type Overrides, overridesOf, type Pipeline } from "./pipeline.ts";
import { placeRun, type RunPlace } from "./place-run.ts";
import type { RescoredTrajectory } from "./rescore-run.ts";
import { wantedRewards } from "./wanted-rewards.ts";

/** How a run is trained. */
export interface TrainOptions extends Told {
  /** Changes of the plan, as of `everturn resume --set`, also of a run that has ended: `{ steps: 40 }`. */
  set?: Overrides;
  /** Goes on with today's workflow code: what is under way ends on the code that it began with. */
  upgrade?: boolean;
  /** Path of the Temporal CLI to start the run's own server with; default: the one that is found or downloaded. */
  temporal?: string;
}

/** How a policy is measured. */
export interface EvaluateOptions extends Told {
  /** File of tasks, JSON lines; default: the pipeline's validation set. */
  tasks?: string;
  /** Only the first tasks. */
  limit?: number;
  /** False switches the tools off. */
  tools?: boolean;
  /** The run whose recorded answers the tools give, by id or by its folder; no tool is called then. */
  toolRecordings?: string;
  /** Default: the newest. */
  policyVersion?: number;
  /** Trajectories of each task; default 1. With several, pass@k and maj@k are measured, too. */
  samples?: number;
  /** Default 0, greedily; with several samples, the one that the run trains with. */
  temperature?: number;
  /** What it is called; default: by policy version and time. The same name again goes on with it, or gives what it recorded. */
  name?: string;
  /** Path of the Temporal CLI, as for training. */
  temporal?: string;
}

/** By what a run's trajectories are scored again, and which of them. */
export interface RescoreOptions extends Pick<TrajectoryFilter, "stage" | "task"> {
  /** As a pipeline says it: `"reward-x"`, `{ plugin: "reward-x", config: { … } }`, a list of these. */
  reward?: JsonValue;
  /** The file of a pipeline whose reward it is. */
  pipeline?: string;
  /** Folders of plugins to look in beside the usual ones. */
  plugins?: readonly string[];
}

/** A run's ledger, checked against its files: it holds if there are no `findings`. */
export interface RunLedger extends Ledger {
  /** What became of each trajectory. */
  entries: LedgerEntry[];
}

/**
 * A run. All that it gives is read when it is asked for, from what is recorded: also while the run is worked on, here or
 * elsewhere. No server is needed for that.
 */
export interface Run {
  readonly id: string;
  /** Its folder, absolute. */
  readonly folder: string;
  /** The plan that is in force. */
  plan(): Promise<Plan>;
  /**
   * Trains it to its end from wherever it is: a new run from its beginning, one that was interrupted from where it was, one
   * that has ended if `set` asks for more steps. Starts the run's server and workers and ends them. Throws RUN_FAILED,
   * INTERRUPTED, RUN_ALREADY_ACTIVE, and what docs/errors.md says of servers and workers.
   */
  train(options?: TrainOptions): Promise<TrainingResult>;
  /**
   * Measures its policy on tasks, greedily unless a temperature or several samples are asked for. Throws POLICY_NOT_FOUND,
   * EVALUATION_NAME_INVALID, EVALUATION_DIFFERS, EVALUATION_SAMPLES_ALIKE, EVALUATION_FAILED, INTERRUPTED.
   */
  evaluate(options?: EvaluateOptions): Promise<EvaluationRecord>;
  /** The metrics of the steps that are recorded, after the first `after`. */
  steps(after?: number): Promise<StepRecord[]>;
  /** Its own evaluations by policy version, then those of `evaluate`. */
  evaluations(): Promise<EvaluationRecord[]>;
  /** Its finished trajectories that match, stage by stage; one that nobody asks for is not read. */
  trajectories(filter?: TrajectoryFilter): AsyncIterable<ListedTrajectory>;
  /**
   * One trajectory wholly, finished or under way, by its id or an end of it. Throws TRAJECTORY_NOT_FOUND,
   * TRAJECTORY_AMBIGUOUS.
   */
  trajectory(id: string): Promise<TrajectoryDetail>;
  /** What an observation refers to, by its SHA-256: an image (`media`), or the text before it was cut (`whole`); undefined if it is gone. */
  bytes(sha256: string): Promise<Uint8Array | undefined>;
  /**
   * Its trajectories scored again, beside what was recorded: by another reward, or by its own with its code as it is now.
   * Nothing of the run changes. Throws WRONG_CONFIGURATION, PIPELINE_NOT_FOUND, and what names a mistake of the reward.
   */
  rescore(options?: RescoreOptions): AsyncIterable<RescoredTrajectory>;
  /** The versions of its policy, in order. */
  versions(): Promise<ListedVersion[]>;
  /** The folder of a version of its policy, in Hugging Face's formats; default: the newest. Throws POLICY_NOT_FOUND, FILES_GONE. */
  policyFolder(version?: number): Promise<string>;
  /** What became of each trajectory, checked against all that the run has; of one step only if named. */
  ledger(options?: { step?: number }): Promise<RunLedger>;
}

/** Where a run is looked for. */
export interface OpenOptions {
  /** The folder of runs in which an id is looked for; default: `runs`. */
  runs?: string;
  /** Is told of a record that can't be read: it counts as absent, and is made again. The ledger names it, too. */
  onNotice?: (text: string) => void;
}

/** Makes a new run of a pipeline; `train` begins it. Throws PATH_UNUSABLE, STORE_UNUSABLE, DISK_FULL. */
export function createRun(
  { plan }: Pick<Pipeline, "plan">,
  options: RunPlace & Pick<OpenOptions, "onNotice"> = {},
): Promise<Run> {
  return known(async () => runAt(await placeRun(plan, options), options.onNotice));
}

/** Opens a run by its id, or by the path of its folder. Throws RUN_NOT_FOUND, RECORD_CORRUPT. */
export function openRun(named: string, options: OpenOptions = {}): Promise<Run> {
  const reference = runReference(named, options.runs ?? "runs");
  return known(async () => {
    await openRunFolder(reference.runs, reference.run, () => {}); // what can't be read is told when it is asked for
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
        const { trainRun } = await import("./train-run.ts"); // loads Temporal, which reading does without
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
