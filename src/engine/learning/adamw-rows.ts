/** How numbers are represented: as arrays, or as addresses for another thread. */
export interface NumberKinds {
  floats: unknown;
  bytes: unknown;
}

/** Numbers as arrays. */
export interface Arrays {
  floats: Float32Array;
  bytes: Uint8Array;
}

/** A moment in 8 bits: a code per number, and a scale per block of 256 (arXiv 2110.02861). */
export interface QuantizedMoment<Numbers extends NumberKinds = Arrays> {
  codes: Numbers["bytes"];
  scales: Numbers["floats"];
}

/** The running means of one parameter, with 32 or 8 bits per number. */
export type Moments<Numbers extends NumberKinds = Arrays> =
  | { bits: 32; first: Numbers["floats"]; second: Numbers["floats"] }
  | { bits: 8; first: QuantizedMoment<Numbers>; second: QuantizedMoment<Numbers> };

/** A parameter of an update. */
export interface AdamWRow<Numbers extends NumberKinds = Arrays> {
  parameter: Numbers["floats"];
  moments: Moments<Numbers>;
  /** Learning rate / (1 − β1^t). */
  stepSize: number;
  /** 1 − learning rate · weight decay. */
  kept: number;
}

/** The values that all parameters of an update share. */
export interface AdamWRates {
  gradientScale: number;
  betas: readonly [number, number];
  /** 1 / √(1 − β2^t). */
  secondScale: number;
}
