import type { Bindings } from "../onnx/bound-session.ts";
import type { BoundTensor } from "../onnx/runtime-session.ts";
import { adapterBinder } from "./adapter-binder.ts";
import type { DecoderRun, Past } from "./cached-decoder.ts";
import { routedLayers, tiesName } from "./expert-choice.ts";
import type { KeyValueArray } from "./key-values.ts";
import type { ModelConfig } from "./model-config.ts";
import { pastBinder } from "./past-binder.ts";
import { readLength } from "./read-length.ts";

/** New tokens of a batch of rows, `length` of each with what it is padded with. */
export interface Block {
  tokens: DecoderRun["tokens"];
  past: Past;
  length: number;
  adapter?: DecoderRun["adapter"] | undefined;
}

/** What the runs of a block read and wrote, beside keys and values; room for at least its rows. */
export interface BlockMemory {
  rows: number;
  tokens: Int32Array;
  last: BigInt64Array;
  lastPositions: Int32Array;
  logits: Float32Array;
  probabilities: Float32Array;
  /** By routed layer: for each token, in the last layer for each row, the expert of a tie, else −1. */
  experts: ReadonlyMap<number, BigInt64Array>;
  /** Of the rows of the block, by places in it. */
  ties: number[][];
}

/** Runs blocks of a kind: those that are alike, one after the other, find all bound. */
export interface BlockRunner {
  /** Runs a block, at once or a row at a time. What it gives is overwritten by the next. */
  run(block: Block, isRowByRow: boolean): Promise<BlockMemory>;
}

/** Milliseconds: where a run took longer, the next one leaves this thread to others. For short ones, to ask another thread costs too much. */
const longRun = 10;

/** A runner with bindings of its own of a session of `inPlaceDecoderGraph`. */
export function createBlockRunner(bindings: Bindings, config: ModelConfig): BlockRunner {
  const { vocab_size: vocabulary } = config;
  const total = new Int32Array(1);
  bindings.bindInput("total", { shape: [1], data: total });
  const routers = routedLayers(config);
  /** Of which a row's last token alone goes through the experts. */
  const lastLayer = config.num_hidden_layers - 1;
  const memoryFor = (rows: number, tokens: number): BlockMemory => ({
    rows,
    tokens: new Int32Array(tokens),
    last: new BigInt64Array(rows),
    lastPositions: new Int32Array(rows),
    logits: new Float32Array(rows * vocabulary),
    probabilities: new Float32Array(rows * vocabulary),
    experts: new Map(routers.map((layer) => [layer, new BigInt64Array(tokens)])),
    ties: [],
  });
  let memory = memoryFor(0, 0);
  let place: Place | undefined;
  let isLong = false;
  const bindPast = pastBinder(bindings, config);
  const bindAdapter = adapterBinder(bindings);

  /** Binds rows `from` and on of the memory, unless they are bound already. */
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
    output("logits", [rows, vocabulary], cut(memory.logits, vocabulary));
    output("probabilities", [rows, vocabulary], cut(memory.probabilities, vocabulary));
    for (const [layer, experts] of memory.experts) {
      const count = layer === lastLayer ? rows : rows * length;
      output(tiesName(layer), [count, 1], experts.subarray(0, count));
    }
    place = next;
  };

  /** The ties of the rows that were run. */
  const tiesOfRun = ({ tokens, length }: Block) =>
    tokens.map((row, index) => {
      const tieOf = (place: number, layer: number, experts: BigInt64Array) => {
        if (layer === lastLayer && place < row.length - 1) return [];
        const expert = Number(experts[layer === lastLayer ? index : index * length + place]);
        return expert < 0 ? [] : [place, layer, expert];
      };
      return row.flatMap((_, place) =>
        [...memory.experts].flatMap(([layer, experts]) => tieOf(place, layer, experts)),
      );
    });

  /** Runs a block whose rows are those `from` and on of the memory. */
  const runPart = async (from: number, block: Block) => {
    const { tokens, past, length } = block;
    total[0] = Math.max(...past.lengths) + length;
    tokens.forEach((row, index) => {
      const at = from + index;
      for (let place = 0; place < length; place++) {
        memory.tokens[at * length + place] = row[place] ?? 0;
      }
      memory.last[at] = BigInt(row.length - 1);
      memory.lastPositions[at] = past.lengths[index]! + length - 1;
    });
    bindPlace(from, tokens.length, length);
    bindPast(tokens.length, past);
    const start = performance.now();
    if (isLong) await bindings.runAside();
    else bindings.run();
    isLong = performance.now() - start > longRun;
    if (routers.length > 0) memory.ties.push(...tiesOfRun(block));
  };

  return {
    async run(block, isRowByRow) {
      const rows = Math.max(block.tokens.length, memory.rows);
      const tokens = Math.max(block.tokens.length * block.length, memory.tokens.length);
      if (rows > memory.rows || tokens > memory.tokens.length) memory = memoryFor(rows, tokens);
      memory.ties = [];
      bindAdapter(block.adapter);
      if (isRowByRow) for (const row of block.tokens.keys()) await runPart(row, rowOf(block, row));
      else await runPart(0, block);
      return memory;
    },
  };
}

/** Where in the memory the bound rows are. */
interface Place {
  memory: BlockMemory;
  from: number;
  rows: number;
  length: number;
}

function isSamePlace(a: Place, b: Place): boolean {
  return a.memory === b.memory && a.from === b.from && a.rows === b.rows && a.length === b.length;
}

/** One row of a block, as a block. */
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
