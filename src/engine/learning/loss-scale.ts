/**
 * The factor of the loss for float16's backward pass, and its history. Without it, gradients would fall below float16's
 * smallest numbers (arXiv 1710.03740). It is always a power of two, so that it changes no digits.
 */
export interface LossScale {
  readonly scale: number;
  /** The number of updates since it last changed. */
  readonly steady: number;
  /** The total number of skipped updates. */
  readonly skipped: number;
}

/** The initial scale for float16. */
export const firstLossScale: LossScale = { scale: 1024, steady: 0, skipped: 0 };

/** The number of updates without an overflow after which the scale doubles, as in PyTorch's GradScaler. */
const steadyUpdates = 2000;

/** Returns the scale after an update. `made` is false if the update was skipped because a value was not finite. */
export function nextLossScale({ scale, steady, skipped }: LossScale, made: boolean): LossScale {
  if (!made) return { scale: scale / 2, steady: 0, skipped: skipped + 1 };
  if (steady + 1 < steadyUpdates) return { scale, steady: steady + 1, skipped };
  return { scale: scale * 2, steady: 0, skipped };
}
