import type { Bindings } from "../onnx/bound-session.ts";
import type { BoundTensor } from "../onnx/runtime-session.ts";
import { type Block, rowOf } from "./block-runner.ts";
import type { DecoderRun, NextTokenOutput, NextTokens } from "./cached-decoder.ts";
import type { ModelConfig } from "./model-config.ts";
import { pastBinder } from "./past-binder.ts";

/** What the graph gives of each row, for what is wanted. */
const outputsFor = {
  choice: ["likeliest", "certainties"],
  logits: ["logits"],
  weights: ["weights"],
} as const;

/** Runs blocks of which the same is wanted, on an NVIDIA card. */
export interface CudaBlockRunner {
  /** Runs a block, at once or a row at a time. What it gives is overwritten by the next. */
  run(block: Block, inverseTemperatures: DecoderRun["inverseTemperatures"], isRowByRow: boolean): NextTokens;
}

/** A runner with bindings of its own of a session of `cudaDecoderGraph`. */
export function createCudaBlockRunner(
  bindings: Bindings,
  config: ModelConfig,
  wanted: readonly NextTokenOutput[],
): CudaBlockRunner {
  const { vocab_size: vocabulary } = config;
  const bindPast = pastBinder(bindings, config);
  const names = new Set(wanted.flatMap((output) => outputsFor[output]));
  let boundAdapter: Block["adapter"];
  let room = 0;
  let given: ReadonlyMap<string, OutputMemory> = new Map();

  const bindAdapter = (adapter: Block["adapter"]) => {
    if (!adapter || adapter === boundAdapter) return;
    for (const [name, matrix] of adapter) bindings.bindInput(name, matrix);
    boundAdapter = adapter;
  };

  /** Runs a block whose rows are those `from` and on of the memory. */
  const runPart = (from: number, { tokens, past, length }: Block, temperatures: Float32Array) => {
    const rows = tokens.length;
    const held: BoundTensor[] = [];
    const input = (name: string, shape: readonly number[], data: BoundTensor["data"]) => {
      held.push({ shape, data });
      bindings.bindInput(name, { shape, data });
    };
    const each = (of: (row: readonly number[], at: number, index: number) => number) =>
      tokens.flatMap((row, index) => Array.from({ length }, (_, at) => of(row, at, index)));
    const ids = each((row, at) => row[at] ?? 0);
    const positions = each((_, at, index) => past.lengths[index]! + at);
    const lastPositions = past.lengths.map((seen) => seen + length - 1);
    input("tokens", [rows, length], Int32Array.from(ids));
    input("positions", [rows, length], BigInt64Array.from(positions, BigInt));
    input(
      "last",
      [rows, 1],
      BigInt64Array.from(tokens, (row) => BigInt(row.length - 1)),
    );
    input("lastPositions", [rows], Int32Array.from(lastPositions));
    input("total", [1], Int32Array.of(Math.max(...past.lengths) + length));
    input("inverseTemperatures", [rows, 1], temperatures.slice(from, from + rows));
    for (const [name, { shape, width, data }] of given) {
      const part = data.subarray(from * width, (from + rows) * width);
      bindings.bindOutput(name, { shape: [rows, ...shape], data: part });
    }
    bindPast(rows, past);
    bindings.run();
    held.length = 0; // alive until here: what the processor reads is not copied
  };

  return {
    run(block, temperatures = new Float32Array(block.tokens.length).fill(1), isRowByRow) {
      if (block.tokens.length > room) {
        room = block.tokens.length;
        given = new Map([...names].map((name) => [name, outputMemory(name, room, vocabulary)]));
      }
      bindAdapter(block.adapter);
      if (isRowByRow) for (const row of block.tokens.keys()) runPart(row, rowOf(block, row), temperatures);
      else runPart(0, block, temperatures);
      return nextTokens(given);
    },
  };
}

/** Where an output of so many rows goes: `width` numbers a row, in the shape of a row. */
interface OutputMemory {
  readonly shape: readonly number[];
  readonly width: number;
  readonly data: Float32Array | BigInt64Array;
}

function outputMemory(name: string, rows: number, vocabulary: number): OutputMemory {
  if (name === "likeliest") return { shape: [], width: 1, data: new BigInt64Array(rows) };
  const width = name === "certainties" ? 1 : vocabulary;
  return { shape: [width], width, data: new Float32Array(rows * width) };
}

function nextTokens(given: ReadonlyMap<string, OutputMemory>): NextTokens {
  const floats = (name: string) => {
    const data = given.get(name)?.data;
    return data instanceof Float32Array ? data : new Float32Array(0);
  };
  return {
    choice: (row) => ({
      token: Number(given.get("likeliest")?.data[row]),
      probability: floats("certainties")[row]!,
    }),
    logits: floats("logits"),
    weights: floats("weights"),
  };
}
