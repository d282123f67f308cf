// `everturn`: load a pipeline, train, evaluate, read a run and its trajectories, from a script or a test.
export type { StepRecord } from "../contracts/generated/step-record.ts";
export type { LedgerEntry } from "../contracts/ledger.ts";
export type { Plan } from "../contracts/plan.ts";
export type { EvaluationRecord, TrainingResult } from "../contracts/run.ts";
export { EverturnError } from "../errors/everturn-error.ts";
export type { ErrorCode } from "../errors/table.ts";
export type { EvaluationComparison } from "../evaluations/compare.ts";
export type { RunComparison } from "../library/compare.ts";
export { compare } from "../library/compare.ts";
export type { RunEvent } from "../library/events.ts";
export type { ListedTrajectory, TrajectoryFilter } from "../library/list-trajectories.ts";
export { loadPipeline, type Overrides, type Pipeline, type PipelineOptions } from "../library/pipeline.ts";
export type { RunPlace } from "../library/place-run.ts";
export type { RescoredTrajectory } from "../library/rescore-run.ts";
export {
  createRun,
  type EvaluateOptions,
  type OpenOptions,
  openRun,
  type RescoreOptions,
  type Run,
  type RunLedger,
  type TrainOptions,
} from "../library/run.ts";
export type { TrajectoryDetail } from "../report/trajectory-detail.ts";
export type { ListedVersion } from "../versions/list-versions.ts";
