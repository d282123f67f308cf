/** How numbers are given: as arrays, or as places where another thread finds them. */
export interface NumberKinds {
  floats: unknown;
  bytes: unknown;
}

/** Arrays. */
export interface Arrays {
  floats: Float32Array;
  bytes: Uint8Array;
}

/** A moment in 8 bits: a code for each number, and the scale of each block of 256 (arXiv 2110.02861). */
export interface QuantizedMoment<Numbers extends NumberKinds = Arrays> {
  codes: Numbers["bytes"];
  scales: Numbers["floats"];
}

/** The running means of one parameter, in 32 bits a number or in 8. */
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

/** What all parameters of an update have in common. */
export interface AdamWRates {
  gradientScale: number;
  betas: readonly [number, number];
  /** 1 / √(1 − β2^t). */
  secondScale: number;
}
