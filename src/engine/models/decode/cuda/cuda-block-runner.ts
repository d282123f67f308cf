import { defined } from "../../../../base/records/defined.ts";
import type { Bindings } from "../../../onnx/bound-session.ts";
import type { CudaMemory } from "../../../onnx/cuda-memory.ts";
import { contextLength, type ModelConfig } from "../../config/model-config.ts";
import { vocabularyParts } from "../../graph/next-token.ts";
import { type Block, rowOf } from "../block-runner.ts";
import type { DecoderPass, Drawn, NextTokenOutput, NextTokens } from "../cached-decoder.ts";
import { pastBinder } from "../past-binder.ts";
import type { CudaAdapter } from "./cuda-adapters.ts";
import { type CudaBlockMemory, createCudaBlockMemory, type WantedOutput } from "./cuda-block-memory.ts";
import type { CudaRecordings } from "./cuda-recordings.ts";

/** Returns the graph's outputs for the requested ones: the numbers per row, and whether all are fetched. */
function outputsFor(wanted: readonly NextTokenOutput[], vocabulary: number): Map<string, WantedOutput> {
  const outputs = new Map<string, WantedOutput>();
  const add = (name: string, width: number, isFetched = true) =>
    outputs.set(name, { width, isFetched: isFetched || outputs.get(name)?.isFetched === true });
  for (const output of wanted) {
    if (output === "logits" || output === "weights") add(output, vocabulary);
    else if (output === "choice") {
      add("likeliest", 1);
      add("certainties", 1);
    } else {
      add("weights", vocabulary, false);
      add("peaks", 1);
      add("sums", vocabularyParts(vocabulary).count);
    }
  }
  return outputs;
}

/** A block with its inputs on a card. */
export interface CudaBlock extends Omit<Block, "adapter"> {
  adapter?: CudaAdapter | undefined;
  inverseTemperatures?: DecoderPass["inverseTemperatures"];
}

/** Runs blocks with the same requested outputs on an NVIDIA card. */
export interface CudaBlockRunner {
  /** Runs a block, in one pass or row by row. The next block overwrites its outputs. */
  run(block: CudaBlock, isRowByRow: boolean): NextTokens;
  close(): void;
}

/** The parts that a decoder's runners share. */
export interface CudaRunnerOptions {
  card: CudaMemory;
  config: ModelConfig;
  recordings: CudaRecordings;
}

/**
 * Creates a runner with its own bindings of a session of `cudaDecoderGraph`. `recordingName` identifies its recordings.
 */
export function createCudaBlockRunner(
  bindings: Bindings,
  { card, config, recordings }: CudaRunnerOptions,
  recordingName: string,
  wanted: readonly NextTokenOutput[],
): CudaBlockRunner {
  const { vocab_size: vocabulary } = config;
  const bindPast = pastBinder(bindings, config);
  const wantedOutputs = outputsFor(wanted, vocabulary);
  const total = new Int32Array(1);
  bindings.bindInput("total", { shape: [1], data: total });
  let memory: CudaBlockMemory | undefined;
  /** The number of times that memory was allocated. */
  let generation = 0;
  let place = "";
  let adapter: CudaAdapter | undefined;
  /** Describes the bound inputs and outputs of passes, until something is bound anew. */
  let bound = "";

  const roomFor = (rows: number, tokens: number): CudaBlockMemory => {
    if (memory && rows <= memory.rows && tokens <= memory.tokens) return memory;
    const sizes = [Math.max(rows, memory?.rows ?? 0), Math.max(tokens, memory?.tokens ?? 0)] as const;
    memory?.close();
    memory = undefined;
    memory = createCudaBlockMemory(card, sizes, wantedOutputs);
    generation++;
    return memory;
  };

  /** Binds the outputs' rows from `from` on, unless they are bound already. Returns whether it did. */
  const bindPlace = ({ inputs, outputs }: CudaBlockMemory, from: number, rows: number, length: number) => {
    const next = [generation, from, rows, length].join();
    if (next === place) return false;
    const input = (name: keyof typeof inputs, ...shape: number[]) =>
      bindings.bindInput(name, { shape, data: inputs[name].subarray(0, shape[0]! * (shape[1] ?? 1)) });
    input("tokens", rows, length);
    input("positions", rows, length);
    input("last", rows);
    input("lastPositions", rows);
    input("inverseTemperatures", rows, 1);
    for (const [name, { width, onCard }] of outputs) {
      const shape = name === "likeliest" ? [rows] : [rows, width];
      bindings.bindOutput(name, { shape, data: onCard.subarray(from * width, (from + rows) * width) });
    }
    place = next;
    return true;
  };

  const bindAdapter = (next: CudaAdapter | undefined) => {
    if (!next || next === adapter) return false;
    for (const [name, matrix] of next.matrices) bindings.bindInput(name, matrix);
    adapter = next;
    return true;
  };

  /** Runs a block whose output rows begin at `from`. */
  const runPart = (from: number, block: CudaBlock, room: CudaBlockMemory) => {
    const { tokens, past, length, inverseTemperatures } = block;
    const rows = tokens.length;
    const { numbers } = room;
    tokens.forEach((row, index) => {
      const seen = past.lengths[index]!;
      for (let at = 0; at < length; at++) {
        numbers.tokens[index * length + at] = row[at] ?? 0;
        numbers.positions[index * length + at] = BigInt(seen + at);
      }
      numbers.last[index] = BigInt(index * length + row.length - 1);
      numbers.lastPositions[index] = seen + length - 1;
      numbers.inverseTemperatures[index] = inverseTemperatures?.[from + index] ?? 1;
    });
    room.send();
    const changes = [bindPlace(room, from, rows, length), bindPast(rows, past), bindAdapter(block.adapter)];
    if (changes.includes(true)) {
      const addresses = [...past.keys, ...past.values].map((array) => placeOf(array));
      bound = [recordingName, place, adapter?.number, past.capacity, ...addresses].join();
    }
    const recording = length === 1 ? recordings.numberOf(bound) : undefined;
    // A recording fixes the maximum number of positions. Without one, fewer positions cost less.
    const most = Math.min(past.capacity, contextLength(config));
    total[0] = recording === undefined ? Math.max(...past.lengths) + length : most;
    card.settle();
    bindings.run(recording);
  };

  return {
    run(block, isRowByRow) {
      const rows = block.tokens.length;
      const room = roomFor(rows, rows * block.length);
      if (isRowByRow)
        for (const row of block.tokens.keys()) runPart(row, { ...block, ...rowOf(block, row) }, room);
      else runPart(0, block, room);
      room.fetch(rows);
      return nextTokens(room, vocabulary);
    },
    close: () => memory?.close(),
  };
}

function placeOf(array: CudaBlock["past"]["keys"][number]): bigint {
  return "type" in array ? array.buffer.address + BigInt(array.byteOffset) : 0n;
}

function nextTokens(room: CudaBlockMemory, vocabulary: number): NextTokens {
  const { outputs } = room;
  const floats = (name: string) => {
    const data = outputs.get(name)?.fetched;
    return data instanceof Float32Array ? data : new Float32Array(0);
  };
  const parts = vocabularyParts(vocabulary);
  const draw = (row: number, uniform: number): Drawn => {
    const sums = floats("sums").subarray(row * parts.count, (row + 1) * parts.count);
    const total = sums.reduce((sum, part) => sum + part, 0);
    const { at, before } = reachedAt(sums, 0, uniform * total);
    const start = at * parts.length;
    const weights = room.part(
      "weights",
      row * vocabulary + start,
      Math.min(parts.length, vocabulary - start),
    );
    const within = reachedAt(weights, before, uniform * total).at;
    return { token: start + within, weight: weights[within]!, largest: floats("peaks")[row]!, total };
  };
  return defined({
    choice: (row) => ({
      token: Number(outputs.get("likeliest")?.fetched?.[row]),
      probability: floats("certainties")[row]!,
    }),
    logits: floats("logits"),
    weights: floats("weights"),
    draw: outputs.has("sums") ? draw : undefined,
  });
}

/**
 * Returns the index at which the running sum, which begins at `before`, exceeds a target. If it never does, returns the
 * last nonzero number.
 */
function reachedAt(numbers: Float32Array, before: number, target: number): { at: number; before: number } {
  let reached = before;
  let found = { at: 0, before };
  for (let at = 0; at < numbers.length; at++) {
    if (numbers[at] === 0) continue;
    found = { at, before: reached };
    reached += numbers[at]!;
    if (reached > target) break;
  }
  return found;
}
