import type { Tensor } from "../models/safetensors.ts";

/** Running means of each parameter's gradient and of its square, by the parameter's name. */
export interface Moments {
  first: ReadonlyMap<string, Float32Array>;
  second: ReadonlyMap<string, Float32Array>;
}

/** What one update needs to know. */
export interface AdamWSettings {
  learningRate: number;
  /** Decoupled; matrices only. Norms and biases don't decay. */
  weightDecay: number;
  /** How slowly the running means of gradients and of their squares change, as in Adam: default [0.9, 0.999]. */
  betas?: readonly [number, number];
  /** The number of this update, from 1. */
  update: number;
}

const epsilon = 1e-8;

/**
 * Updates parameters and moments in place (AdamW, arXiv 1711.05101; epsilon 1e-8).
 * Parameters without a gradient stay as they are.
 */
export function updateWithAdamW(
  parameters: ReadonlyMap<string, Tensor>,
  gradients: ReadonlyMap<string, Float32Array>,
  moments: Moments,
  { learningRate, weightDecay, betas: [firstDecay, secondDecay] = [0.9, 0.999], update }: AdamWSettings,
): void {
  const stepSize = learningRate / (1 - firstDecay ** update);
  const secondScale = 1 / Math.sqrt(1 - secondDecay ** update);
  for (const [name, gradient] of gradients) {
    const { data, shape } = parameters.get(name)!;
    const first = moments.first.get(name)!;
    const second = moments.second.get(name)!;
    const kept = shape.length > 1 ? 1 - learningRate * weightDecay : 1;
    for (let at = 0; at < data.length; at++) {
      const slope = gradient[at]!;
      const mean = firstDecay * first[at]! + (1 - firstDecay) * slope;
      const square = secondDecay * second[at]! + (1 - secondDecay) * slope * slope;
      first[at] = mean;
      second[at] = square;
      data[at] = data[at]! * kept - (stepSize * mean) / (Math.sqrt(square) * secondScale + epsilon);
    }
  }
}

/** Scales gradients in place so that their common norm is at most `maximum`; returns the norm before. */
export function clipGradientNorm(gradients: readonly Float32Array[], maximum: number): number {
  let squares = 0;
  for (const gradient of gradients) {
    for (let at = 0; at < gradient.length; at++) squares += gradient[at]! * gradient[at]!;
  }
  const norm = Math.sqrt(squares);
  const scale = maximum / (norm + 1e-6);
  if (scale >= 1) return norm;
  for (const gradient of gradients) {
    for (let at = 0; at < gradient.length; at++) gradient[at]! *= scale;
  }
  return norm;
}
