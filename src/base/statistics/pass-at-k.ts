/**
 * The unbiased estimate of the probability that at least one of `k` samples solves a task, given that `solved` out
 * of `samples` did (Chen et al., "Evaluating large language models trained on code", 2021). `k` is at most
 * `samples`.
 */
export function passAtK(samples: number, solved: number, k: number): number {
  if (samples - solved < k) return 1;
  let none = 1;
  for (let count = samples - solved + 1; count <= samples; count++) none *= 1 - k / count;
  return 1 - none;
}

/** The values of k for which pass@k is reported: 1, 2, 4, 8 … and the number of samples. */
export function toldAtK(samples: number): number[] {
  const powers: number[] = [];
  for (let k = 1; k < samples; k *= 2) powers.push(k);
  return [...powers, samples];
}
