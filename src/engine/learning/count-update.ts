import { EverturnError } from "../../base/errors/everturn-error.ts";
import { nextLossScale } from "./loss-scale.ts";
import type { TrainerState } from "./trainer-state.ts";

/**
 * Counts an update in a state and returns true. If one of its quantities is not finite, halves the loss scale, skips
 * the update and returns false. Throws TRAINING_NOT_FINITE if there is no loss scale to halve.
 */
export function countUpdate(state: TrainerState, quantities: Readonly<Record<string, number>>): boolean {
  const { lossScale } = state;
  const strange = Object.entries(quantities).find(([, value]) => !Number.isFinite(value));
  if (strange && (lossScale === undefined || lossScale.scale <= 1)) {
    const [quantity, value] = strange;
    throw new EverturnError("TRAINING_NOT_FINITE", { step: state.updates + 1, quantity, value });
  }
  if (lossScale) state.lossScale = nextLossScale(lossScale, strange === undefined);
  if (strange) return false;
  state.updates++;
  return true;
}
