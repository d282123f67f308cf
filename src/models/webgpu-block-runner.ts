import type { Bindings } from "../onnx/bound-session.ts";
import { type Block, rowOf } from "./block-runner.ts";
import type { DecoderRun, NextTokenOutput, NextTokens, Past } from "./cached-decoder.ts";
import type { KeyValueMemory } from "./key-value-memory.ts";
import type { KeyValueArray } from "./key-values.ts";
import type { ModelConfig } from "./model-config.ts";
import { outputsFor } from "./next-token.ts";
import { pastBinder } from "./past-binder.ts";

/** A block, and 1 / temperature of each of its rows, for weights; default 1. */
export interface WebgpuBlock extends Block {
  inverseTemperatures?: DecoderRun["inverseTemperatures"];
}

/** Runs a block, at once or a row at a time. What it gives is overwritten by the next. */
export type WebgpuBlockRunner = (block: WebgpuBlock, isRowByRow: boolean) => NextTokens;

/** What runs give. */
interface Given {
  readonly rows: number;
  readonly likeliest: BigInt64Array;
  readonly floats: Readonly<Record<"certainties" | "logits" | "weights", Float32Array>>;
}

/** A runner with bindings of its own of a session of `createWebgpuDecoder`, for blocks of which the same is wanted. */
export function createWebgpuBlockRunner(
  bindings: Bindings,
  config: ModelConfig,
  keyValues: KeyValueMemory,
  wanted: readonly NextTokenOutput[],
): WebgpuBlockRunner {
  const names = new Set(wanted.flatMap((output) => outputsFor[output]));
  const widths = { certainties: 1, logits: config.vocab_size, weights: config.vocab_size };
  const bindPast = pastBinder(bindings, config);
  let boundAdapter: Block["adapter"];
  let given = emptyRows(names, widths, 0);

  const bindAdapter = (adapter: Block["adapter"]) => {
    if (!adapter || adapter === boundAdapter) return;
    for (const [name, matrix] of adapter) bindings.bindInput(name, matrix);
    boundAdapter = adapter;
  };

  /** Runs a block whose rows give those `from` and on. */
  const runPart = (from: number, { tokens, past, length, inverseTemperatures }: WebgpuBlock) => {
    const rows = tokens.length;
    const input = (name: string, data: Int32Array | BigInt64Array | Float32Array, ...shape: number[]) =>
      bindings.keepInput(name, { shape, data });
    const padded = tokens.flatMap((row) => Array.from({ length }, (_, at) => row[at] ?? 0));
    input("tokens", Int32Array.from(padded), rows, length);
    input(
      "last",
      BigInt64Array.from(tokens, (row) => BigInt(row.length - 1)),
      rows,
      1,
    );
    input(
      "lastPositions",
      Int32Array.from(past.lengths, (seen) => seen + length - 1),
      rows,
    );
    input("total", Int32Array.of(Math.max(...past.lengths) + length), 1);
    const temperatures = inverseTemperatures?.subarray(from, from + rows);
    input("inverseTemperatures", temperatures ?? new Float32Array(rows).fill(1), rows, 1);
    for (const name of names) {
      if (name === "likeliest") {
        bindings.bindOutput(name, { shape: [rows], data: given.likeliest.subarray(from, from + rows) });
      } else {
        const width = widths[name];
        const data = given.floats[name].subarray(from * width, (from + rows) * width);
        bindings.bindOutput(name, { shape: [rows, width], data });
      }
    }
    fromItsBeginning(keyValues, past, (whole) => {
      bindPast(rows, whole);
      bindings.run();
    });
  };

  return (block, isRowByRow) => {
    if (given.rows < block.tokens.length) given = emptyRows(names, widths, block.tokens.length);
    bindAdapter(block.adapter);
    if (isRowByRow) for (const row of block.tokens.keys()) runPart(row, { ...block, ...rowOf(block, row) });
    else runPart(0, block);
    const { likeliest, floats } = given;
    return {
      choice: (row) => ({ token: Number(likeliest[row]), probability: floats.certainties[row]! }),
      logits: floats.logits,
      weights: floats.weights,
    };
  };
}

function emptyRows(
  names: ReadonlySet<string>,
  widths: Readonly<Record<keyof Given["floats"], number>>,
  rows: number,
): Given {
  const floats = (name: keyof typeof widths) => new Float32Array(names.has(name) ? rows * widths[name] : 0);
  return {
    rows,
    likeliest: new BigInt64Array(names.has("likeliest") ? rows : 0),
    floats: { certainties: floats("certainties"), logits: floats("logits"), weights: floats("weights") },
  };
}

/** Part of an array can't be bound on a card: such keys and values are copied, and what was made of them is copied back. */
function fromItsBeginning(keyValues: KeyValueMemory, past: Past, work: (whole: Past) => void): void {
  const arrays = [...past.keys, ...past.values];
  if (arrays.every(({ byteOffset }) => byteOffset === 0)) {
    work(past);
    return;
  }
  const copies = arrays.map(({ length }) => keyValues.allocate(length));
  const all = (array: KeyValueArray) => ({ array, start: 0, stride: array.length });
  const length = arrays[0]?.length ?? 0;
  const pairs = arrays.map((array, index) => [all(array), all(copies[index]!)] as const);
  keyValues.copy(pairs, 1, length);
  const layers = past.keys.length;
  work({ ...past, keys: copies.slice(0, layers), values: copies.slice(layers) });
  keyValues.copy(
    pairs.map(([array, copy]) => [copy, array] as const),
    1,
    length,
  );
  for (const copy of copies) keyValues.release(copy);
}
