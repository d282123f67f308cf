import type { GroupCursor } from "./rollout.ts";
import type { PolicyGradientMetrics } from "./trainer.ts";
import type { SegmentRef, TokenCounts } from "./trajectory.ts";

/** Trajectories admitted to a run, with their places, before they start. */
export interface Reservation {
  /** `step-0003`, `evaluation-v0001` … */
  stage: string;
  /** Of a step: 1 (or absent) for tasks drawn by the data cursor, more for those that replace others. */
  round?: number;
  groups: ReservedGroup[];
}

/** The trajectories of one task. */
export interface ReservedGroup {
  task: string;
  /** The sample numbers of its trajectories. */
  samples: number[];
  /** Of an asynchronous run: its number in the order of the data cursor, from 1. */
  number?: number;
}

/** A trajectory that a step trained on, exactly as it did. */
export interface BatchMember {
  trajectory: string;
  head: SegmentRef;
  reward: number;
  group: string;
}

/** A trajectory that a step was offered and did not train on. */
export interface LeftOut {
  trajectory: string;
  reason: string;
}

/** What a step on examples measured; what concerns pairs is absent of demonstrations, what is held out if nothing is. */
export interface ExampleMetrics {
  /** That its updates trained on. */
  examples: number;
  /** Passes over all of them by the end of the step. */
  epoch: number;
  /** Means over the updates. */
  loss: number;
  accuracy?: number;
  margin?: number;
  heldOutLoss?: number;
  heldOutAccuracy?: number;
  heldOutMargin?: number;
  gradientNorm: number;
  /** Of the last update. */
  learningRate: number;
  tokens: TokenCounts;
}

/** What the reference policy says of pairs: the sums of the log-probabilities of each pair's answers, nats. */
export interface ReferenceScores {
  chosen: number[];
  rejected: number[];
}

/** The new version and its metrics. */
export interface TrainStepResult<Metrics = PolicyGradientMetrics> {
  policyVersion: number;
  metrics: Metrics;
  seconds: number;
  /** What it was given and could not read any more; absent if there is none. */
  unreadable?: LeftOut[];
}

/** What became of each trajectory of a step, committed with the version that the step made. */
export interface TrainedStep<Metrics = PolicyGradientMetrics>
  extends Omit<TrainStepResult<Metrics>, "unreadable"> {
  step: number;
  /** The version it trained from. */
  from: number;
  trajectories: BatchMember[];
  /** Also what it could not read. */
  leftOut: LeftOut[];
  /** Of an asynchronous run. */
  cursor?: GroupCursor;
}

/** Where a trajectory is: what the ledger says of it. */
export type LedgerState = "reserved" | "under way" | "finished" | "trained" | "left out";

/** A trajectory's line in the ledger. */
export interface LedgerEntry {
  trajectory: string;
  stage: string;
  state: LedgerState;
  /** The step that trained on it, or left it out. */
  step?: number;
  reward?: number;
  /** Why it was left out. */
  reason?: string;
}

/** Something that the ledger and the files disagree about. */
export interface Finding {
  /** The name of the check, as docs/durability.md explains it. */
  check: string;
  /** A trajectory, a step, a version or a file. */
  subject: string;
  problem: string;
}
