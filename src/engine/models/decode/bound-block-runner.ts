import type { FedBindings } from "../../onnx/fed-bindings.ts";
import type { BoundTensor } from "../../onnx/runtime-session.ts";
import type { ModelConfig } from "../config/model-config.ts";
import { outputsFor } from "../graph/next-token.ts";
import { adapterBinder } from "./adapter-binder.ts";
import { type Block, rowOf } from "./block-runner.ts";
import type { DecoderPass, NextTokenOutput, NextTokens, Past } from "./cached-decoder.ts";
import { imageBinder } from "./image-binder.ts";
import type { KeyValueMemory } from "./key-value-memory.ts";
import type { KeyValueArray } from "./key-values.ts";
import { pastBinder } from "./past-binder.ts";
import { createTieReader } from "./tie-reader.ts";

/** A block, and 1 / temperature of each of its rows, for weights. Default: 1. */
export interface BoundBlock extends Block {
  inverseTemperatures?: DecoderPass["inverseTemperatures"];
}

/** Runs a block, in one pass or row by row. The next block overwrites its outputs. */
export type BoundBlockRunner = (block: BoundBlock, isRowByRow: boolean) => Promise<NextTokens>;

/** The parts of a runner. */
export interface BoundRunnerOptions {
  readonly config: ModelConfig;
  readonly keyValues: KeyValueMemory;
  /** Returns the graph's inputs for a block, except keys and values, adapters and temperatures. */
  readonly feeds: (block: Block) => Readonly<Record<string, BoundTensor>>;
  /** Waits for pending copies before a pass. */
  readonly settle?: (() => void) | undefined;
}

/** The outputs of passes. */
interface Given {
  readonly rows: number;
  readonly likeliest: BigInt64Array;
  readonly floats: Readonly<Record<"certainties" | "logits" | "weights", Float32Array>>;
}

/**
 * Creates a runner with its own bindings of a session whose graph has `nextTokenOutputs`, for blocks with the same
 * requested outputs.
 */
export function createBoundBlockRunner(
  bindings: FedBindings,
  { config, keyValues, feeds, settle }: BoundRunnerOptions,
  wanted: readonly NextTokenOutput[],
): BoundBlockRunner {
  const names = new Set(wanted.flatMap((output) => outputsFor[output]));
  const widths = { certainties: 1, logits: config.vocab_size, weights: config.vocab_size };
  const bindPast = pastBinder(bindings, config);
  const bindAdapter = adapterBinder(bindings);
  const bindImages = imageBinder(bindings, config);
  const tieReader = createTieReader(bindings, config);
  let given = emptyRows(names, widths, 0);

  const bindOutputs = (from: number, rows: number) => {
    for (const name of names) {
      if (name === "likeliest") {
        bindings.bindOutput(name, { shape: [rows], data: given.likeliest.subarray(from, from + rows) });
      } else {
        const width = widths[name];
        const data = given.floats[name].subarray(from * width, (from + rows) * width);
        bindings.bindOutput(name, { shape: [rows, width], data });
      }
    }
  };

  /** Runs a block whose output rows begin at `from`. Returns their routing ties. */
  const runPart = async (from: number, block: BoundBlock) => {
    const { past, inverseTemperatures } = block;
    const tokens = bindImages(block);
    const rows = tokens.length;
    for (const [name, tensor] of Object.entries(feeds({ ...block, tokens })))
      bindings.keepInput(name, tensor);
    const temperatures = inverseTemperatures?.slice(from, from + rows) ?? new Float32Array(rows).fill(1);
    bindings.keepInput("inverseTemperatures", { shape: [rows, 1], data: temperatures });
    bindOutputs(from, rows);
    tieReader.bind(rows, block.length);
    await fromItsBeginning(keyValues, past, async (whole) => {
      bindPast(rows, whole);
      settle?.();
      await bindings.run();
    });
    return tieReader.read(tokens);
  };

  return async (block, isRowByRow) => {
    if (given.rows < block.tokens.length) given = emptyRows(names, widths, block.tokens.length);
    bindAdapter(block.adapter);
    const ties: number[][] = [];
    if (isRowByRow) {
      for (const row of block.tokens.keys())
        ties.push(...(await runPart(row, { ...block, ...rowOf(block, row) })));
    } else ties.push(...(await runPart(0, block)));
    const { likeliest, floats } = given;
    return {
      choice: (row) => ({ token: Number(likeliest[row]), probability: floats.certainties[row]! }),
      logits: floats.logits,
      weights: floats.weights,
      ties,
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

/** Part of WebGPU's memory can't be bound, so such keys and values are copied, and the new ones are copied back. */
async function fromItsBeginning(
  keyValues: KeyValueMemory,
  past: Past,
  work: (whole: Past) => Promise<void>,
): Promise<void> {
  const arrays = [...past.keys, ...past.values];
  if (!arrays.some(isPartOfWebgpus)) return work(past);
  const copies = arrays.map((array) => keyValues.allocate(array.length));
  const all = (array: KeyValueArray) => ({ array, start: 0, stride: array.length });
  const length = arrays[0]?.length ?? 0;
  const pairs = arrays.map((array, index) => [all(array), all(copies[index]!)] as const);
  keyValues.copy(pairs, 1, length);
  const layers = past.keys.length;
  await work({ ...past, keys: copies.slice(0, layers), values: copies.slice(layers) });
  const back = pairs.map(([array, copy]) => [copy, array] as const);
  keyValues.copy(back, 1, length);
  for (const copy of copies) keyValues.release(copy);
}

function isPartOfWebgpus(array: KeyValueArray): boolean {
  return "type" in array && array.buffer.card === "webgpu" && array.byteOffset > 0;
}
