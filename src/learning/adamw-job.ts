import type { AdamWKernel, AdamWRates, AdamWRow } from "./adamw-kernel.ts";

/** What threads do together on some gradients: update their parameters, or add up squares. */
export interface AdamWJob<Numbers> {
  gradients: readonly Numbers[];
  /** Numbers of each gradient. */
  counts: readonly number[];
  /** A row for each gradient. Without it squares are added up. */
  update?: { rows: readonly AdamWRow<Numbers>[]; rates: AdamWRates };
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

/** Does pieces of a job that nobody has begun, until there is none. */
export function workOn<Numbers>(
  kernel: AdamWKernel,
  { gradients, counts, update }: AdamWJob<Numbers>,
  { counters, sums }: AdamWProgress,
  open: (numbers: Numbers, count: number) => Float32Array,
): void {
  const pieces = piecesOf(counts);
  for (;;) {
    const at = Atomics.add(counters, 0, 1);
    const piece = pieces[at];
    if (piece === undefined) return;
    const { index, start, end } = piece;
    try {
      const arrayOf = (numbers: Numbers) => open(numbers, counts[index]!);
      const gradient = arrayOf(gradients[index]!);
      if (update) {
        const { parameter, first, second, ...rates } = update.rows[index]!;
        const arrays = {
          parameter: arrayOf(parameter),
          first: arrayOf(first),
          second: arrayOf(second),
        };
        kernel.update({ ...arrays, ...rates }, gradient, update.rates, start, end);
      } else sums[at] = kernel.squares(gradient, start, end);
    } catch (error) {
      Atomics.store(counters, 2, 1);
      throw error;
    } finally {
      Atomics.add(counters, 1, 1);
      Atomics.notify(counters, 1);
    }
  }
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
