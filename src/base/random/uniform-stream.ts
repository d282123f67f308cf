import { hash } from "node:crypto";
import type { SamplingKey } from "../../contracts/policy.ts";

/**
 * A uniform number in [0, 1) with 53 random bits for each position. The same position always gives the same number.
 */
export type UniformStream = (position: number) => number;

/**
 * Counter-based random numbers: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011)
 * counts positions under a key hashed from the seed, the trajectory and the turn. Draws share no state, so neither
 * batching nor a restart changes them.
 */
export function createUniformStream(key: SamplingKey): UniformStream {
  const digest = hash("sha256", JSON.stringify([key.seed, key.trajectory, key.turn]), "buffer");
  const key0 = digest.readUInt32LE(0);
  const key1 = digest.readUInt32LE(4);
  const high = digest.readUInt32LE(8);
  return (position) => {
    const [a, b] = philox([position >>> 0, Math.floor(position / 2 ** 32), high, 0], key0, key1);
    return ((a >>> 5) * 2 ** 26 + (b >>> 6)) / 2 ** 53;
  };
}

type Block = [number, number, number, number];

/** Ten rounds of Philox 4x32 over a counter of four 32-bit words. */
export function philox(counter: Block, key0: number, key1: number): Block {
  let [c0, c1, c2, c3] = counter;
  let k0 = key0;
  let k1 = key1;
  for (let round = 0; round < 10; round++) {
    const next0 = (multiplyHigh(0xcd9e8d57, c2) ^ c1 ^ k0) >>> 0;
    const next2 = (multiplyHigh(0xd2511f53, c0) ^ c3 ^ k1) >>> 0;
    c1 = Math.imul(0xcd9e8d57, c2) >>> 0;
    c3 = Math.imul(0xd2511f53, c0) >>> 0;
    c0 = next0;
    c2 = next2;
    k0 = (k0 + 0x9e3779b9) >>> 0;
    k1 = (k1 + 0xbb67ae85) >>> 0;
  }
  return [c0, c1, c2, c3];
}

/** Upper 32 bits of the product of two unsigned 32-bit integers. */
function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  // No sum here reaches 2³².
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const carry = aLow * bHigh + (middle & 0xffff);
  return aHigh * bHigh + (middle >>> 16) + (carry >>> 16);
}
