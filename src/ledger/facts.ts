import type { FinishedTrajectory } from "../contracts/folded-step.ts";
import type { StepRecord } from "../contracts/generated/step-record.ts";
import type { Reservation, TrainedStep } from "../contracts/ledger.ts";
import type { EvaluationRecord } from "../contracts/run.ts";
import { wholeLines } from "../files/line-file.ts";
import { otherEvaluations, ownEvaluations } from "../runs/evaluations.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { recordedSteps } from "../runs/recorded-steps.ts";
import type { TrajectoryReader } from "../trajectory/reader.ts";
import { listReservations, readReservations } from "./reservations.ts";
import { readTrainedSteps } from "./trained-steps.ts";

/** What a run's files say of its trajectories. */
export interface LedgerFacts {
  /** The recorded steps. */
  metrics: StepRecord[];
  /** The lines of `metrics.jsonl`. */
  view: string[];
  trained: ReadonlyMap<number, TrainedStep>;
  evaluations: EvaluationRecord[];
  reservations: Reservation[];
  /** By id: the trajectories that are there; undefined while one is under way. */
  trajectories: ReadonlyMap<string, FinishedTrajectory | undefined>;
}

/**
 * Reads them, also while the run goes on: what is written last is read first, so that all it rests on is seen too.
 * `stage` reads the trajectories of one stage only.
 */
export async function readLedgerFacts(
  run: OpenRun,
  reader: TrajectoryReader,
  stage?: string,
): Promise<LedgerFacts> {
  const { id, folder, store } = run;
  const view = await wholeLines(folder.metrics);
  const metrics = await recordedSteps(store);
  const trained = await readTrainedSteps(run);
  const own = await ownEvaluations(run, metrics.at(-1)?.policyVersion ?? 1);
  const evaluations = [...own, ...(await otherEvaluations(run, own))];
  const trajectories = new Map<string, FinishedTrajectory | undefined>();
  for (const name of await reader.list({ stage })) {
    trajectories.set(`${id}/${name.stage}/${name.task}/${name.sample}`, await reader.finished(name));
  }
  const reservations = await (stage === undefined ? listReservations(store) : readReservations(store, stage));
  return { metrics, view, trained, evaluations, trajectories, reservations };
}
