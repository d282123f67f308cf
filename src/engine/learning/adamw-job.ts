import type { AdamWKernel } from "./adamw-kernel.ts";
import type { AdamWRates, AdamWRow, Arrays, Moments, NumberKinds } from "./adamw-rows.ts";

/**
 * Work on some gradients that threads share: updates their parameters, adds them to sums, or else sums their squares.
 */
export interface AdamWJob<Numbers extends NumberKinds = Arrays> {
  gradients: readonly Numbers["floats"][];
  /** The number of values in each gradient. */
  counts: readonly number[];
  /** One row per gradient. */
  update?: { rows: readonly AdamWRow<Numbers>[]; rates: AdamWRates };
  /** One sum per gradient. */
  sums?: readonly Numbers["floats"][];
}

/** The address at which another thread finds an array. */
export interface Place {
  address: bigint;
  byteLength: number;
}

/** Arrays given by their addresses. */
export interface Places {
  floats: Place;
  bytes: Place;
}

/** The threads' shared progress on a job, in shared memory. */
export interface AdamWProgress {
  /** The number of pieces begun, the number of pieces done, and whether one failed. */
  counters: Int32Array;
  /** The sum of each piece when squares are summed. */
  sums: Float64Array;
}

/** A part of a gradient for one thread. */
interface Piece {
  index: number;
  start: number;
  end: number;
}

/** The number of values in a piece: tens of microseconds of work. */
const pieceSize = 2 ** 16;

/**
 * Splits gradients with these counts into pieces. Equal counts yield equal pieces, so that sums are added in one order.
 */
export function piecesOf(counts: readonly number[]): Piece[] {
  return counts.flatMap((count, index) =>
    Array.from({ length: Math.ceil(count / pieceSize) }, (_, at) => {
      const start = at * pieceSize;
      return { index, start, end: Math.min(start + pieceSize, count) };
    }),
  );
}

/** Returns the progress of a job that has not begun. */
export function noProgress(pieces: number): AdamWProgress {
  return {
    counters: new Int32Array(new SharedArrayBuffer(3 * 4)),
    sums: new Float64Array(new SharedArrayBuffer(8 * pieces)),
  };
}

/** Returns the arrays at addresses. */
export interface Opener<From extends NumberKinds, To extends NumberKinds> {
  floats: (numbers: From["floats"]) => To["floats"];
  bytes: (numbers: From["bytes"]) => To["bytes"];
}

/** Converts a row's arrays to another representation. */
export function openRow<From extends NumberKinds, To extends NumberKinds>(
  { parameter, moments, ...rates }: AdamWRow<From>,
  open: Opener<From, To>,
): AdamWRow<To> {
  return { ...rates, parameter: open.floats(parameter), moments: openMoments(moments, open) };
}

function openMoments<From extends NumberKinds, To extends NumberKinds>(
  moments: Moments<From>,
  { floats, bytes }: Opener<From, To>,
): Moments<To> {
  if (moments.bits === 32) return { bits: 32, first: floats(moments.first), second: floats(moments.second) };
  const { first, second } = moments;
  return {
    bits: 8,
    first: { codes: bytes(first.codes), scales: floats(first.scales) },
    second: { codes: bytes(second.codes), scales: floats(second.scales) },
  };
}

/**
 * Works on pieces of a job, possibly along with other threads, until all have begun or a time limit in milliseconds is
 * over. Returns false at the time limit.
 */
export function workOn<Numbers extends NumberKinds>(
  kernel: AdamWKernel,
  { gradients, counts, update, sums }: AdamWJob<Numbers>,
  { counters, sums: squares }: AdamWProgress,
  open: Opener<Numbers, Arrays>,
  milliseconds = Number.POSITIVE_INFINITY,
): boolean {
  const pieces = piecesOf(counts);
  const began = performance.now();
  while (performance.now() - began < milliseconds) {
    const at = Atomics.add(counters, 0, 1);
    const piece = pieces[at];
    if (piece === undefined) return true;
    const { index, start, end } = piece;
    try {
      const gradient = open.floats(gradients[index]!);
      if (update) kernel.update(openRow(update.rows[index]!, open), gradient, update.rates, start, end);
      else if (sums) kernel.add(open.floats(sums[index]!), gradient, start, end);
      else squares[at] = kernel.squares(gradient, start, end);
    } catch (error) {
      Atomics.store(counters, 2, 1);
      throw error;
    } finally {
      Atomics.add(counters, 1, 1);
      Atomics.notify(counters, 1);
    }
  }
  return false;
}

/** Waits until all threads have finished their pieces. Throws if one failed. */
export function finished({ counters, sums }: AdamWProgress): void {
  for (;;) {
    const done = Atomics.load(counters, 1);
    if (done === sums.length) break;
    Atomics.wait(counters, 1, done);
  }
  if (Atomics.load(counters, 2) !== 0) throw new Error("a thread that updates parameters failed");
}
