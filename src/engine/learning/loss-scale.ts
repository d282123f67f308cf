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
