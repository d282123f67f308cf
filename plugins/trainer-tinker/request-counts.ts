import { EverturnError } from "everturn/engine";
import type { ServerProfile } from "./profiles.ts";
import type { ServerMetrics } from "./server-model.ts";

/** A model's calls, as the trainer counts them. */
export interface RequestCounts {
  /** Counts a pass that added a gradient. */
  pass(metrics: ServerMetrics): void;
  /** Counts an optimizer step. */
  step(metrics: ServerMetrics): void;
}

/**
 * Returns counts that start at 0. Each count throws TINKER_MODEL_LOST if the server's metrics contain another number:
 * the server then ran a call twice, or lost one.
 */
export function requestCounts(model: string, names: ServerProfile["counters"]): RequestCounts {
  let passes = 0;
  let steps = 0;
  const compare = (counted: number | undefined, own: number, unit: string) => {
    if (counted === undefined || counted === own) return;
    const reason = `it counts ${counted} ${unit} of ${model}, but received ${own}`;
    throw new EverturnError("TINKER_MODEL_LOST", { reason });
  };
  return {
    pass(metrics) {
      passes++;
      compare(names && metrics[names.passes], passes, "passes");
    },
    step(metrics) {
      passes = 0;
      steps++;
      compare(names && metrics[names.steps], steps, "optimizer steps");
    },
  };
}
