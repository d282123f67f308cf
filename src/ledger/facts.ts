import { dirname, join } from "node:path";
import type { StepRecord } from "../contracts/generated/step-record.ts";
import type { TrajectoryRecord } from "../contracts/generated/trajectory.ts";
import type { Reservation, TrainedStep } from "../contracts/ledger.ts";
import type { EvaluationRecord } from "../contracts/run.ts";
import { namesIn } from "../files/names-in.ts";
import { readLines, readRecord } from "../files/whole-files.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import type { RunFolder } from "../runs/run-folder.ts";
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
  metrics: StepRecord[];
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
  const metrics = await readLines<StepRecord>(folder.metrics);
  const trained = await readTrainedSteps(run);
  const evaluations = await readEvaluations(folder);
  const trajectories = new Map<string, FinishedTrajectory | undefined>();
  for (const name of await listTrajectories(folder, { stage })) {
    const record = await readTrajectoryRecord(store, name);
    trajectories.set(`${id}/${name.stage}/${name.task}/${name.sample}`, record && shortened(record));
  }
  const reservations = await (stage === undefined ? listReservations(store) : readReservations(store, stage));
  return { metrics, trained, evaluations, trajectories, reservations };
}

function shortened(record: TrajectoryRecord): FinishedTrajectory {
  const { outcome, reward, success, head, tokens, policyVersions, failure } = record;
  return {
    ...{ outcome, reward, success, head, tokens, policyVersions },
    ...(failure === undefined ? {} : { failure }),
  };
}

async function readEvaluations(folder: RunFolder): Promise<EvaluationRecord[]> {
  const names = await namesIn(dirname(folder.evaluation("any")));
  const files = names.filter((name) => name.endsWith(".json"));
  const at = dirname(folder.evaluation("any"));
  const records = await Promise.all(files.map((name) => readRecord<EvaluationRecord>(join(at, name))));
  return records.filter((record) => record !== undefined);
}
