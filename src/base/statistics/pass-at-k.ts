/**
 * How probable it is that at least one of `k` samples solves a task of which `solved` of `samples` did, without bias (Chen et
 * al., "Evaluating large language models trained on code", 2021). `k` is at most `samples`.
 */
export function passAtK(samples: number, solved: number, k: number): number {
  if (samples - solved < k) return 1;
  let none = 1;
  for (let count = samples - solved + 1; count <= samples; count++) none *= 1 - k / count;
  return 1 - none;
}

/** The k for which pass@k is told: 1, 2, 4, 8 …, and all samples. */
export function toldAtK(samples: number): number[] {
  const powers: number[] = [];
  for (let k = 1; k < samples; k *= 2) powers.push(k);
  return [...powers, samples];
}
