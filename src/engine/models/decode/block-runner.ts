import type { Bindings } from "../../onnx/bound-session.ts";
import type { BoundTensor } from "../../onnx/runtime-session.ts";
import type { ModelConfig } from "../config/model-config.ts";
import { adapterBinder } from "./adapter-binder.ts";
import type { DecoderPass, Past } from "./cached-decoder.ts";
import { imageBinder } from "./image-binder.ts";
import type { KeyValueArray } from "./key-values.ts";
import { pastBinder } from "./past-binder.ts";
import { readLength } from "./read-length.ts";
import { createTieReader } from "./tie-reader.ts";

/** New tokens of a batch of rows. Each row is padded to `length`. */
export interface Block {
  tokens: DecoderPass["tokens"];
  past: Past;
  length: number;
  adapter?: DecoderPass["adapter"] | undefined;
  embeddings?: DecoderPass["embeddings"] | undefined;
  positions?: DecoderPass["positions"] | undefined;
}

/** The inputs and outputs of a block's passes except keys and values. It has room for at least the block's rows. */
interface BlockMemory {
  rows: number;
  tokens: Int32Array;
  last: BigInt64Array;
  lastPositions: Int32Array;
  logits: Float32Array;
  probabilities: Float32Array;
}

/** The outputs of a block's passes. */
export interface BlockOutputs extends Pick<BlockMemory, "logits" | "probabilities"> {
  /** Routing ties of each row. */
  ties: number[][];
}

/** Runs blocks of one kind. Consecutive blocks of equal shape reuse the bindings. */
export interface BlockRunner {
  /** Runs a block, in one pass or row by row. The next block overwrites its outputs. */
  run(block: Block, isRowByRow: boolean): Promise<BlockOutputs>;
}

/**
 * Milliseconds. After a pass that took longer, the next one runs on another thread. Handing short passes over would
 * cost too much.
 */
const longPass = 10;

/**
 * Creates a runner with its own bindings of a session of `inPlaceDecoderGraph`. Vocabulary 0 means a graph without
 * logits.
 */
export function createBlockRunner(
  bindings: Bindings,
  config: ModelConfig,
  vocabulary = config.vocab_size,
): BlockRunner {
  const total = new Int32Array(1);
  bindings.bindInput("total", { shape: [1], data: total });
  let memory = blockMemory(0, 0, vocabulary);
  let place: Place | undefined;
  let isLong = false;
  const bindPast = pastBinder(bindings, config);
  const bindAdapter = adapterBinder(bindings);
  const bindImages = imageBinder(bindings, config);
  const tieReader = createTieReader(bindings, config);

  /** Binds the memory's rows from `from` on, unless they are bound already. */
  const bindPlace = (from: number, rows: number, length: number) => {
    const next = { memory, from, rows, length };
    if (place && isSamePlace(place, next)) return;
    const cut = <Numbers extends BoundTensor["data"]>(data: Numbers, width: number) =>
      data.subarray(from * width, (from + rows) * width);
    const input = (name: string, shape: readonly number[], data: BoundTensor["data"]) =>
      bindings.bindInput(name, { shape, data });
    const output = (name: string, shape: readonly number[], data: BoundTensor["data"]) =>
      bindings.bindOutput(name, { shape, data });
    input("tokens", [rows, length], cut(memory.tokens, length));
    input("last", [rows, 1], cut(memory.last, 1));
    input("lastPositions", [rows], cut(memory.lastPositions, 1));
    if (vocabulary > 0) {
      output("logits", [rows, vocabulary], cut(memory.logits, vocabulary));
      output("probabilities", [rows, vocabulary], cut(memory.probabilities, vocabulary));
    }
    tieReader.bind(rows, length);
    place = next;
  };

  /** Runs a block in the memory's rows from `from` on. Returns their routing ties. */
  const runPart = async (from: number, block: Block) => {
    const { past, length } = block;
    const tokens = bindImages(block);
    total[0] = Math.max(...past.lengths) + length;
    tokens.forEach((row, index) => {
      const at = from + index;
      for (let column = 0; column < length; column++) {
        memory.tokens[at * length + column] = row[column] ?? 0;
      }
      memory.last[at] = BigInt(row.length - 1);
      memory.lastPositions[at] = past.lengths[index]! + length - 1;
    });
    bindPlace(from, tokens.length, length);
    bindPast(tokens.length, past);
    const start = performance.now();
    if (isLong) await bindings.runAside();
    else bindings.run();
    isLong = performance.now() - start > longPass;
    return tieReader.read(tokens);
  };

  return {
    async run(block, isRowByRow) {
      const rows = Math.max(block.tokens.length, memory.rows);
      const tokens = Math.max(block.tokens.length * block.length, memory.tokens.length);
      if (rows > memory.rows || tokens > memory.tokens.length) memory = blockMemory(rows, tokens, vocabulary);
      bindAdapter(block.adapter);
      const { logits, probabilities } = memory;
      if (!isRowByRow) return { logits, probabilities, ties: await runPart(0, block) };
      const ties: number[][] = [];
      for (const row of block.tokens.keys())
        ties.push(...(await runPart(row, { ...rowOf(block, row), embeddings: block.embeddings })));
      return { logits, probabilities, ties };
    },
  };
}

function blockMemory(rows: number, tokens: number, vocabulary: number): BlockMemory {
  return {
    rows,
    tokens: new Int32Array(tokens),
    last: new BigInt64Array(rows),
    lastPositions: new Int32Array(rows),
    logits: new Float32Array(rows * vocabulary),
    probabilities: new Float32Array(rows * vocabulary),
  };
}

/** The bound rows of the memory. */
interface Place {
  memory: BlockMemory;
  from: number;
  rows: number;
  length: number;
}

function isSamePlace(a: Place, b: Place): boolean {
  return a.memory === b.memory && a.from === b.from && a.rows === b.rows && a.length === b.length;
}

/** Returns one row of a block as a block. */
export function rowOf({ tokens, past, length }: Omit<Block, "adapter">, row: number): Omit<Block, "adapter"> {
  const cut = (array: KeyValueArray) => {
    const size = array.length / tokens.length;
    return array.subarray(row * size, (row + 1) * size);
  };
  return {
    tokens: [tokens[row]!],
    length: Math.min(length, readLength(tokens[row]!.length)),
    past: {
      keys: past.keys.map(cut),
      values: past.values.map(cut),
      capacity: past.capacity,
      lengths: [past.lengths[row]!],
    },
  };
}
