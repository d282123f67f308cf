import type { GroupCursor } from "./rollout.ts";
import type { PolicyGradientMetrics, ServerStep } from "./trainer.ts";
import type { SegmentRef, TokenCounts } from "./trajectory.ts";

/** Trajectories admitted to a run, with their places, before they start. */
export interface Reservation {
  /** `step-0003`, `evaluation-v0001` … */
  stage: string;
  /** Set for a step: 1 or absent for tasks that the data cursor drew, higher for their replacements. */
  round?: number;
  groups: ReservedGroup[];
}

/** The trajectories of one task. */
export interface ReservedGroup {
  task: string;
  /** The sample numbers of its trajectories. */
  samples: number[];
  /** Set in an asynchronous run: the group's number in the order of the data cursor, from 1. */
  number?: number;
}

/** A trajectory that a step trained on, with its exact tokens. */
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

/**
 * Metrics of a step on examples. Demonstrations have no metrics of pairs, and steps without held-out examples have no
 * metrics of those.
 */
export interface ExampleMetrics {
  /** The number of examples that the step's updates trained on. */
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
  /** Learning rate of the last update. */
  learningRate: number;
  tokens: TokenCounts;
}

/** The reference policy's scores of pairs: the sum of the log-probabilities of each answer, in nats. */
export interface ReferenceScores {
  chosen: number[];
  rejected: number[];
}

/** The new version and its metrics. */
export interface TrainStepResult<Metrics = PolicyGradientMetrics> {
  policyVersion: number;
  metrics: Metrics;
  seconds: number;
  /** Trajectories that it was given and could not read any more. Absent if none. */
  unreadable?: LeftOut[];
}

/** The result of each trajectory of a step, committed together with the version that the step produced. */
export interface TrainedStep<Metrics = PolicyGradientMetrics>
  extends Omit<TrainStepResult<Metrics>, "unreadable"> {
  step: number;
  /** The version it trained from. */
  from: number;
  trajectories: BatchMember[];
  /** Includes the trajectories that it could not read. */
  leftOut: LeftOut[];
  /** Set in an asynchronous run. */
  cursor?: GroupCursor;
  /** Set if a training server trained it. */
  server?: ServerStep;
  /** Set if trainers may share steps: identifies everything that the version was made from. */
  batch?: string;
}

/** The state of a trajectory in the ledger. */
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

/** A disagreement between the ledger and the files. */
export interface Finding {
  /** The name of the check, as docs/durability.md explains it. */
  check: string;
  /** The trajectory, step, version or file that it concerns. */
  subject: string;
  problem: string;
}
