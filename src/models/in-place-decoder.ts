import { createBoundSession } from "../onnx/bound-session.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import type { BoundTensor } from "../onnx/runtime-session.ts";
import type { CachedDecoder, DecoderOptions, DecoderRun, NextTokens, Past } from "./cached-decoder.ts";
import { inPlaceDecoderGraph } from "./in-place-decoder-graph.ts";
import type { ModelConfig } from "./model-config.ts";
import { createTemperedWeights, type TemperedWeights } from "./tempered-weights.ts";
import type { WeightSources } from "./weight-sources.ts";

/** One run of the model: a batch of rows, of which several new tokens are read at once only without a past. */
interface Block {
  tokens: DecoderRun["tokens"];
  past: Past;
  length: number;
}

/**
 * A decoder for float32 on the CPU, whose attention writes keys and values into the memory that they are kept in:
 * nothing is copied, and a step costs little more than its arithmetic.
 */
export async function createInPlaceDecoder(
  config: ModelConfig,
  { folder, tensors }: WeightSources,
  { threads, adapter }: DecoderOptions,
): Promise<CachedDecoder> {
  const session = await createBoundSession(modelBytes(inPlaceDecoderGraph(config, tensors, adapter)), {
    threads,
    ...(folder !== undefined && { weightsFolder: folder }),
  });
  const { num_key_value_heads: heads, head_dim: size, vocab_size: vocabulary } = config;
  const total = new Int32Array(1);
  session.bindInput("total", { shape: [1], data: total });
  let memory = stepMemory(0, 0, vocabulary);
  let bound: Bound | undefined;
  let boundAdapter: DecoderRun["adapter"];
  let tempered: TemperedWeights | undefined;

  /** Binds rows `from` and on of the step's memory and of keys and values, unless they are bound already. */
  const bind = (from: number, block: Block) => {
    const { tokens, past, length } = block;
    const rows = tokens.length;
    if (bound && isBound(bound, memory, from, block)) return;
    const input = (name: string, shape: readonly number[], data: BoundTensor["data"]) =>
      session.bindInput(name, { shape, data });
    const output = (name: string, shape: readonly number[], data: BoundTensor["data"]) =>
      session.bindOutput(name, { shape, data });
    const cut = <Numbers extends BoundTensor["data"]>(data: Numbers, width: number) =>
      data.subarray(from * width, (from + rows) * width);
    input("tokens", [rows, length], cut(memory.tokens, length));
    input("last", [rows, 1], cut(memory.last, 1));
    input("lastPositions", [rows], cut(memory.lastPositions, 1));
    output("likeliest", [rows], cut(memory.likeliest, 1));
    output("logits", [rows, vocabulary], cut(memory.logits, vocabulary));
    output("probabilities", [rows, vocabulary], cut(memory.probabilities, vocabulary));
    const shape = [rows, heads, past.capacity, size];
    past.keys.forEach((keys, layer) => {
      const values = past.values[layer]!;
      input(`keys${layer}`, shape, keys);
      output(`newKeys${layer}`, shape, keys);
      input(`values${layer}`, shape, values);
      output(`newValues${layer}`, shape, values);
    });
    bound = { memory, from, rows, length, capacity: past.capacity, keys: past.keys.map(weakly) };
  };

  /** Runs a block whose rows are those `from` and on of the step's memory. */
  const runBlock = (from: number, block: Block) => {
    const { tokens, past, length } = block;
    total[0] = Math.max(...past.lengths) + length;
    tokens.forEach((row, index) => {
      const at = from + index;
      for (let place = 0; place < length; place++) {
        memory.tokens[at * length + place] = BigInt(row[place] ?? 0);
      }
      memory.last[at] = BigInt(row.length - 1);
      memory.lastPositions[at] = past.lengths[index]! + length - 1;
    });
    bind(from, block);
    session.run();
  };

  return {
    config,
    capacityStep: 64,
    async run({ tokens, past, adapter: matrices, inverseTemperatures, ...run }): Promise<NextTokens> {
      const rows = tokens.length;
      const length = run.length ?? Math.max(...tokens.map((row) => row.length));
      if (rows > memory.rows || rows * length > memory.tokens.length) {
        memory = stepMemory(rows, rows * length, vocabulary);
      }
      if (matrices && matrices !== boundAdapter) {
        for (const [name, matrix] of matrices) session.bindInput(name, matrix);
        boundAdapter = matrices;
      }
      const block = { tokens, past, length };
      if (length === 1 || past.lengths.every((seen) => seen === 0)) runBlock(0, block);
      else for (const row of tokens.keys()) runBlock(row, rowOf(block, row));
      const { likeliest, certainties, logits, probabilities } = memory;
      for (let row = 0; row < rows; row++) {
        certainties[row] = probabilities[row * vocabulary + Number(likeliest[row])]!;
      }
      if (!inverseTemperatures?.some((factor) => factor !== 1)) {
        return { likeliest, certainties, logits, weights: probabilities };
      }
      tempered ??= await createTemperedWeights(vocabulary, threads);
      return { likeliest, certainties, logits, weights: tempered.of(logits, inverseTemperatures) };
    },
    async close() {
      tempered?.close();
      session.close();
    },
  };
}

/** What a run reads and writes, beside keys and values; room for some rows and new tokens. */
interface StepMemory {
  rows: number;
  tokens: BigInt64Array;
  last: BigInt64Array;
  lastPositions: Int32Array;
  likeliest: BigInt64Array;
  certainties: Float32Array;
  logits: Float32Array;
  probabilities: Float32Array;
}

function stepMemory(rows: number, tokens: number, vocabulary: number): StepMemory {
  return {
    rows,
    tokens: new BigInt64Array(tokens),
    last: new BigInt64Array(rows),
    lastPositions: new Int32Array(rows),
    likeliest: new BigInt64Array(rows),
    certainties: new Float32Array(rows),
    logits: new Float32Array(rows * vocabulary),
    probabilities: new Float32Array(rows * vocabulary),
  };
}

/** What the session is bound to. Keys and values are not kept alive: their owner may give them up between runs. */
interface Bound {
  memory: StepMemory;
  from: number;
  rows: number;
  length: number;
  capacity: number;
  keys: { buffer: WeakRef<ArrayBufferLike>; offset: number }[];
}

function weakly({ buffer, byteOffset }: Float32Array): Bound["keys"][number] {
  return { buffer: new WeakRef(buffer), offset: byteOffset };
}

/** Values lie where they lay as long as keys do: both are made together. */
function isBound(bound: Bound, memory: StepMemory, from: number, block: Block): boolean {
  const { tokens, past, length } = block;
  return (
    bound.memory === memory &&
    bound.from === from &&
    bound.rows === tokens.length &&
    bound.length === length &&
    bound.capacity === past.capacity &&
    bound.keys.every(({ buffer, offset }, layer) => {
      const keys = past.keys[layer]!;
      return buffer.deref() === keys.buffer && offset === keys.byteOffset;
    })
  );
}

/** One row of a block, as a block. */
function rowOf({ tokens, past, length }: Block, row: number): Block {
  const cut = (array: Float32Array) => {
    const size = array.length / tokens.length;
    return array.subarray(row * size, (row + 1) * size);
  };
  return {
    tokens: [tokens[row]!],
    length,
    past: {
      keys: past.keys.map(cut),
      values: past.values.map(cut),
      capacity: past.capacity,
      lengths: [past.lengths[row]!],
    },
  };
}
