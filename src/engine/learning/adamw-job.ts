import type { AdamWKernel } from "./adamw-kernel.ts";
import type { AdamWRates, AdamWRow, Arrays, Moments, NumberKinds } from "./adamw-rows.ts";

/** What threads do together on some gradients: update their parameters, add them to sums, or else add up their squares. */
export interface AdamWJob<Numbers extends NumberKinds = Arrays> {
  gradients: readonly Numbers["floats"][];
  /** Numbers of each gradient. */
  counts: readonly number[];
  /** A row for each gradient. */
  update?: { rows: readonly AdamWRow<Numbers>[]; rates: AdamWRates };
  /** A sum for each gradient. */
  sums?: readonly Numbers["floats"][];
}

/** Where another thread finds an array. */
export interface Place {
  address: bigint;
  byteLength: number;
}

/** Arrays by their places. */
export interface Places {
  floats: Place;
  bytes: Place;
}

/** What threads know of each other's work on a job, in memory that they share. */
export interface AdamWProgress {
  /** Pieces that somebody has begun; pieces that are done; whether one failed. */
  counters: Int32Array;
  /** The sum of each piece, where squares are added up. */
  sums: Float64Array;
}

/** A part of a gradient, that one thread works on. */
interface Piece {
  index: number;
  start: number;
  end: number;
}

/** Numbers of a piece: some tens of microseconds of work. */
const pieceSize = 2 ** 16;

/** The pieces of gradients with so many numbers; the same for the same counts, so that sums are added in one order. */
export function piecesOf(counts: readonly number[]): Piece[] {
  return counts.flatMap((count, index) =>
    Array.from({ length: Math.ceil(count / pieceSize) }, (_, at) => {
      const start = at * pieceSize;
      return { index, start, end: Math.min(start + pieceSize, count) };
    }),
  );
}

/** The progress of a job that nobody has begun. */
export function noProgress(pieces: number): AdamWProgress {
  return {
    counters: new Int32Array(new SharedArrayBuffer(3 * 4)),
    sums: new Float64Array(new SharedArrayBuffer(8 * pieces)),
  };
}

/** Gives what a thread finds at places. */
export interface Opener<From extends NumberKinds, To extends NumberKinds> {
  floats: (numbers: From["floats"]) => To["floats"];
  bytes: (numbers: From["bytes"]) => To["bytes"];
}

/** A row with its numbers given in another way. */
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

/** Does pieces of a job, whoever else does, until nobody has to begin one, or so many milliseconds are over: then it gives false. */
export function workOn<Numbers extends NumberKinds>(
  kernel: AdamWKernel,
  { gradients, counts, update, sums }: AdamWJob<Numbers>,
  { counters, sums: squares }: AdamWProgress,
  open: Opener<Numbers, Arrays>,
  milliseconds = Number.POSITIVE_INFINITY,
): boolean {
  const pieces = piecesOf(counts);
  const start = performance.now();
  while (performance.now() - start < milliseconds) {
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

/** Waits until all pieces are done, by whomever. Throws if one failed. */
export function finished({ counters, sums }: AdamWProgress): void {
  for (;;) {
    const done = Atomics.load(counters, 1);
    if (done === sums.length) break;
    Atomics.wait(counters, 1, done);
  }
  if (Atomics.load(counters, 2) !== 0) throw new Error("a thread that updates parameters failed");
}
