/** The target of the KL divergence. */
export interface KlTarget {
  /** Nats per token. */
  target: number;
  /** In trajectories. The smaller it is, the faster the coefficient adapts. */
  horizon: number;
}

/**
 * Returns the next KL coefficient (Ziegler et al. 2019, arXiv 1909.08593, section 2.2). It grows while the KL
 * divergence of a step of `trajectories` is above the target, by at most 20 % per horizon, and shrinks while it is
 * below.
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
