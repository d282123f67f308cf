import type { StepRecord } from "../contracts/generated/step-record.ts";
import type { TrajectoryRecord } from "../contracts/generated/trajectory.ts";
import type { Reservation, TrainedStep } from "../contracts/ledger.ts";
import type { EvaluationRecord } from "../contracts/run.ts";
import { wholeLines } from "../files/line-file.ts";
import { otherEvaluations, ownEvaluations } from "../runs/evaluations.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { recordedSteps } from "../runs/recorded-steps.ts";
import { listTrajectories, readTrajectoryRecord } from "../trajectory/trajectory-files.ts";
import { listReservations, readReservations } from "./reservations.ts";
import { readTrainedSteps } from "./trained-steps.ts";

/** What the ledger needs of a trajectory's record; its turns may be many. */
export type FinishedTrajectory = Pick<
  TrajectoryRecord,
  "outcome" | "reward" | "success" | "head" | "tokens" | "policyVersions" | "failure"
>;

/** What a run's files say of its trajectories. */
export interface LedgerFacts {
  /** The recorded steps. */
  metrics: StepRecord[];
  /** The lines of `metrics.jsonl`. */
  view: string[];
  trained: ReadonlyMap<number, TrainedStep>;
  evaluations: EvaluationRecord[];
  reservations: Reservation[];
  /** By id: the trajectories that have a folder; undefined while one is under way. */
  trajectories: ReadonlyMap<string, FinishedTrajectory | undefined>;
}

/**
 * Reads them, also while the run goes on: what is written last is read first, so that all it rests on is seen too.
 * `stage` reads the trajectories of one stage only. Throws RECORD_CORRUPT.
 */
export async function readLedgerFacts(run: OpenRun, stage?: string): Promise<LedgerFacts> {
  const { id, folder, store } = run;
  const view = await wholeLines(folder.metrics);
  const metrics = await recordedSteps(store);
  const trained = await readTrainedSteps(run);
  const own = await ownEvaluations(run, metrics.at(-1)?.policyVersion ?? 1);
  const evaluations = [...own, ...(await otherEvaluations(run, own))];
  const trajectories = new Map<string, FinishedTrajectory | undefined>();
  for (const name of await listTrajectories(folder, { stage })) {
    const record = await readTrajectoryRecord(store, name);
    trajectories.set(`${id}/${name.stage}/${name.task}/${name.sample}`, record && shortened(record));
  }
  const reservations = await (stage === undefined ? listReservations(store) : readReservations(store, stage));
  return { metrics, view, trained, evaluations, trajectories, reservations };
}

function shortened(record: TrajectoryRecord): FinishedTrajectory {
  const { outcome, reward, success, head, tokens, policyVersions, failure } = record;
  return {
    ...{ outcome, reward, success, head, tokens, policyVersions },
    ...(failure === undefined ? {} : { failure }),
  };
}
