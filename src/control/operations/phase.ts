import { counted } from "../../base/text/format.ts";
import type { RunProgress, StageProgress } from "../../contracts/run.ts";

/** A run's current activity in words, and how much of it is done, if that is counted (`of` above 0). */
export interface Phase {
  text: string;
  done: number;
  of: number;
  unit: "steps" | "trajectories";
  /** The part of the current step. */
  part?: "rollout" | NonNullable<StageProgress["phase"]>;
}

const nothing = { done: 0, of: 0, unit: "trajectories" } as const;

/** The phase of a run. `child` is the progress of the current step or evaluation. */
export function phaseOf(progress: RunProgress, child?: StageProgress): Phase {
  const { done, of } = progress;
  switch (progress.phase) {
    case "open":
      return { ...nothing, text: "opening the run" };
    case "initialize":
      return { ...nothing, text: "building the policy" };
    case "warm-start":
      return { text: "warm start on demonstrations", done, of, unit: "steps" };
    case "evaluate":
      return { ...nothing, text: "evaluating on held-out tasks", ...child };
    case "step":
      return step(progress, child ?? (progress.child === undefined ? { done, of } : { done: 0, of: 0 }));
    case "done":
      return { ...nothing, text: "done" };
  }
}

function step({ trainsOnExamples }: RunProgress, { phase, done, of }: StageProgress): Phase {
  switch (phase) {
    case "train": {
      const batch = trainsOnExamples ? "examples" : counted(of, "trajectory", "trajectories");
      return { ...nothing, text: `training on ${batch}`, part: "train" };
    }
    case "publish":
      return { ...nothing, text: "publishing the new version", part: "publish" };
    default:
      return { text: "rolling out trajectories", done, of, unit: "trajectories", part: "rollout" };
  }
}
