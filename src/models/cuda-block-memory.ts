import { type CudaArray, type CudaMemory, type CudaType, cudaArray } from "../onnx/cuda-memory.ts";
import { elementBytes } from "../onnx/element-bytes.ts";

/** What blocks are read from, in the processor's memory. */
export interface BlockNumbers {
  readonly positions: BigInt64Array;
  readonly last: BigInt64Array;
  readonly tokens: Int32Array;
  readonly lastPositions: Int32Array;
  readonly inverseTemperatures: Float32Array;
}

/** What runs of blocks read and give beside keys and values, on a card, with room for some rows and tokens. */
export interface CudaBlockMemory {
  readonly rows: number;
  readonly tokens: number;
  /** To be written before a run. */
  readonly numbers: BlockNumbers;
  /** The same on the card. */
  readonly inputs: Readonly<Record<keyof BlockNumbers, CudaArray>>;
  readonly outputs: ReadonlyMap<string, CudaOutput>;
  /** Copies what was written to the card. */
  send(): void;
  /** Copies what the first rows were given from the card. */
  fetch(rows: number): void;
  close(): void;
}

/** An output: so many numbers a row, on the card and where they are copied to. */
export interface CudaOutput {
  readonly width: number;
  readonly onCard: CudaArray;
  readonly fetched: Float32Array | BigInt64Array;
}

/** Memory for runs that give some outputs of a vocabulary. All inputs lie in one piece, as each copy takes time of its own. */
export function createCudaBlockMemory(
  card: CudaMemory,
  [rows, tokens]: readonly [rows: number, tokens: number],
  names: Iterable<string>,
  vocabulary: number,
): CudaBlockMemory {
  const counts: Record<keyof BlockNumbers, readonly [type: CudaType, count: number]> = {
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
    cudaArray(counts[name][0], whole.buffer, starts[name], counts[name][1]);
  const { buffer } = packed;
  const outputs = new Map(Array.from(names, (name) => [name, outputOf(card, name, rows, vocabulary)]));
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
    fetch(wanted) {
      for (const { width, onCard: from, fetched: to } of outputs.values()) {
        const size = width * wanted * to.BYTES_PER_ELEMENT;
        const part = { start: 0, stride: size };
        card.copy({ array: from, ...part }, { array: to, ...part }, 1, size);
      }
    },
    close() {
      card.free(whole);
      for (const output of outputs.values()) card.free(output.onCard);
    },
  };
}

function outputOf(card: CudaMemory, name: string, rows: number, vocabulary: number): CudaOutput {
  if (name === "likeliest")
    return { width: 1, onCard: card.allocate("int64", rows), fetched: new BigInt64Array(rows) };
  const width = name === "certainties" ? 1 : vocabulary;
  const count = width * rows;
  return { width, onCard: card.allocate("float32", count), fetched: new Float32Array(count) };
}
