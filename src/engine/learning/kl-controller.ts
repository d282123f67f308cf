/** What keeps the KL divergence near a target. */
export interface KlTarget {
  /** Nats a token. */
  target: number;
  /** The smaller, the faster the coefficient follows; in trajectories. */
  horizon: number;
}

/**
 * The next KL coefficient (Ziegler et al. 2019, arXiv 1909.08593, section 2.2): it grows while the KL divergence of a step
 * of `trajectories` is above the target, by at most 20 % a horizon, and shrinks while it is below.
 */
export function nextKlCoefficient(
  coefficient: number,
  kl: number,
  trajectories: number,
  { target, horizon }: KlTarget,
): number {
  const error = Math.max(-0.2, Math.min(0.2, kl / target - 1));
  return coefficient * (1 + (error * trajectories) / horizon);
}
