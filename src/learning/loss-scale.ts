import { EverturnError } from "../errors/everturn-error.ts";
import type { TrainerState } from "./trainer-state.ts";

/**
 * What the loss is multiplied with for float16's backward pass, whose smallest numbers its gradients would else fall
 * below (arXiv 1710.03740), and how it came to be. Always a power of two, so that it changes no digits.
 */
export interface LossScale {
  readonly scale: number;
  /** Updates since it last changed. */
  readonly steady: number;
  /** Updates that were skipped in all. */
  readonly skipped: number;
}

/** Where float16 begins. */
export const firstLossScale: LossScale = { scale: 1024, steady: 0, skipped: 0 };

/** Updates without an overflow after which the scale is tried at twice its size, as PyTorch's GradScaler does. */
const steadyUpdates = 2000;

/** The scale after an update that was made, or skipped because something in it was not finite. */
export function nextLossScale({ scale, steady, skipped }: LossScale, made: boolean): LossScale {
  if (!made) return { scale: scale / 2, steady: 0, skipped: skipped + 1 };
  if (steady + 1 < steadyUpdates) return { scale, steady: steady + 1, skipped };
  return { scale: scale * 2, steady: 0, skipped };
}

/**
 * Counts an update in a state, and returns true; or, if one of its quantities is not finite, skips it where there is a
 * loss scale that can be halved, and returns false. Throws TRAINING_NOT_FINITE where there is none.
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
