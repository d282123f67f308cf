import { defined } from "../../../../base/records/defined.ts";
import { type CardArray, type CardType, cardArray } from "../../../onnx/card-memory.ts";
import type { CudaMemory } from "../../../onnx/cuda-memory.ts";
import { elementBytes } from "../../../onnx/element-bytes.ts";
import { passError } from "../../../onnx/pass-error.ts";

/** The inputs of blocks, in main memory. */
export interface BlockNumbers {
  readonly positions: BigInt64Array;
  readonly last: BigInt64Array;
  readonly tokens: Int32Array;
  readonly lastPositions: Int32Array;
  readonly inverseTemperatures: Float32Array;
}

/** The inputs and outputs of blocks' passes on a card, except keys and values, with room for some rows and tokens. */
export interface CudaBlockMemory {
  readonly rows: number;
  readonly tokens: number;
  /** Write these before a pass. */
  readonly numbers: BlockNumbers;
  /** The inputs on the card. */
  readonly inputs: Readonly<Record<keyof BlockNumbers, CardArray>>;
  readonly outputs: ReadonlyMap<string, CudaOutput>;
  /** Copies the written inputs to the card. */
  send(): void;
  /** Copies the outputs of the first rows from the card. */
  fetch(rows: number): void;
  /** Returns a copy of some numbers of a float32 output, from an offset over all of its rows. */
  part(name: string, start: number, count: number): Float32Array;
  close(): void;
}

/** An output with this many numbers per row, on the card and, unless it stays there, its copy in main memory. */
export interface CudaOutput {
  readonly width: number;
  readonly onCard: CardArray;
  readonly fetched?: Float32Array | BigInt64Array;
}

/** A requested output. */
export interface WantedOutput {
  /** Numbers per row. */
  readonly width: number;
  /** Whether it is copied to main memory. */
  readonly isFetched: boolean;
}

/** Allocates memory for passes with these outputs. All inputs are in one piece, because each copy has a fixed cost. */
export function createCudaBlockMemory(
  card: CudaMemory,
  [rows, tokens]: readonly [rows: number, tokens: number],
  wanted: ReadonlyMap<string, WantedOutput>,
): CudaBlockMemory {
  const counts: Record<keyof BlockNumbers, readonly [type: CardType, count: number]> = {
    positions: ["int64", tokens],
    last: ["int64", rows],
    tokens: ["int32", tokens],
    lastPositions: ["int32", rows],
    inverseTemperatures: ["float32", rows],
  };
  const starts = { positions: 0, last: 0, tokens: 0, lastPositions: 0, inverseTemperatures: 0 };
  let bytes = 0;
  for (const name of ["positions", "last", "tokens", "lastPositions", "inverseTemperatures"] as const) {
    const [type, count] = counts[name];
    starts[name] = bytes;
    bytes += elementBytes[type] * count;
  }
  const packed = new Uint8Array(bytes);
  const whole = card.allocate("int32", bytes / 4);
  const onCard = (name: keyof BlockNumbers) =>
    cardArray(counts[name][0], whole.buffer, starts[name], counts[name][1]);
  const { buffer } = packed;
  const outputs = new Map(Array.from(wanted, ([name, output]) => [name, outputOf(card, name, rows, output)]));
  const all = { start: 0, stride: bytes };
  return {
    rows,
    tokens,
    numbers: {
      positions: new BigInt64Array(buffer, starts.positions, tokens),
      last: new BigInt64Array(buffer, starts.last, rows),
      tokens: new Int32Array(buffer, starts.tokens, tokens),
      lastPositions: new Int32Array(buffer, starts.lastPositions, rows),
      inverseTemperatures: new Float32Array(buffer, starts.inverseTemperatures, rows),
    },
    inputs: {
      positions: onCard("positions"),
      last: onCard("last"),
      tokens: onCard("tokens"),
      lastPositions: onCard("lastPositions"),
      inverseTemperatures: onCard("inverseTemperatures"),
    },
    outputs,
    send: () => card.copy({ array: packed, ...all }, { array: whole, ...all }, 1, bytes),
    fetch(count) {
      for (const { width, onCard: from, fetched: to } of outputs.values()) {
        if (!to) continue;
        const size = width * count * to.BYTES_PER_ELEMENT;
        const part = { start: 0, stride: size };
        card.copy({ array: from, ...part }, { array: to, ...part }, 1, size);
      }
    },
    part(name, start, count) {
      const found = new Float32Array(count);
      const { BYTES_PER_ELEMENT: width, byteLength: stride } = found;
      const from = outputs.get(name);
      if (!from) throw passError(`there is no output ${name}`);
      card.copy(
        { array: from.onCard, start: width * start, stride },
        { array: found, start: 0, stride },
        1,
        stride,
      );
      return found;
    },
    close() {
      card.free(whole);
      for (const output of outputs.values()) card.free(output.onCard);
    },
  };
}

function outputOf(
  card: CudaMemory,
  name: string,
  rows: number,
  { width, isFetched }: WantedOutput,
): CudaOutput {
  const count = width * rows;
  if (name === "likeliest")
    return { width, onCard: card.allocate("int64", count), fetched: new BigInt64Array(count) };
  const onCard = card.allocate("float32", count);
  return defined({ width, onCard, fetched: isFetched ? new Float32Array(count) : undefined });
}
