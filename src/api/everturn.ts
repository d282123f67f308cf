// `everturn`: functions for scripts and tests that load a pipeline, train, evaluate, and read a run and its
// trajectories.

export { EverturnError } from "../base/errors/everturn-error.ts";
export type { ErrorCode } from "../base/errors/table.ts";
export type { StepRecord } from "../contracts/generated/step-record.ts";
export type { LedgerEntry } from "../contracts/ledger.ts";
export type { Plan } from "../contracts/plan.ts";
export type { EvaluationRecord, TrainingResult } from "../contracts/run.ts";
export type { RunComparison } from "../control/operations/compare.ts";
export { compare } from "../control/operations/compare.ts";
export type { RunEvent } from "../control/operations/events.ts";
export type { TrajectoryFilter } from "../control/operations/list-trajectories.ts";
export {
  loadPipeline,
  type Overrides,
  type Pipeline,
  type PipelineOptions,
} from "../control/operations/pipeline.ts";
export type { RunPlace } from "../control/operations/place-run.ts";
export type { RescoredTrajectory } from "../control/operations/rescore-run.ts";
export {
  createRun,
  type EvaluateOptions,
  type OpenOptions,
  openRun,
  type RescoreOptions,
  type Run,
  type RunLedger,
  type TrainOptions,
} from "../control/operations/run.ts";
export type { EvaluationComparison } from "../results/evaluations/compare.ts";
export type { ListedTrajectory } from "../run/projections/listed-trajectory.ts";
export type { TrajectoryDetail } from "../run/projections/trajectory-detail.ts";
export type { ListedVersion } from "../run/versions/list-versions.ts";
