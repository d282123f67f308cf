import type { CachedDecoder, KeyValues, NextTokens } from "../models/cached-decoder.ts";
import type { Tensor } from "../models/safetensors.ts";
import { createBlockKeys } from "./block-keys.ts";
import { createKeyValueCache, type KeyValueCache } from "./key-value-cache.ts";
import { nextTokenOf, prepareAll, tempered, wantedBy } from "./next-tokens.ts";
import { blockLength, type PrefixStore } from "./prefix-store.ts";
import type { Sequence } from "./sequence.ts";

/** A prompt being read, for the sequences that have it. */
interface Reading {
  readonly prompt: readonly number[];
  readonly keys: readonly string[];
  readonly sequences: Sequence[];
  /** Its row in the cache; −1 before it has one. */
  row: number;
  /** Tokens whose keys and values are known. */
  length: number;
}

/** A prompt that has been read: its keys and values are in a row of the reader's cache. */
export interface ReadPrompt {
  readonly row: number;
  readonly sequences: readonly Sequence[];
}

/** Reads prompts, a block of each at a time. */
export interface PromptReader {
  /** Sequences whose prompts are being read. */
  sequences(): Sequence[];
  /** How many different prompts are being read, and the length of the longest. */
  extent(): { rows: number; positions: number };
  add(sequence: Sequence): void;
  /** Reads a block of the first prompts; those that have been read to their end are handed over, and forgotten. */
  step(finished: (prompts: readonly ReadPrompt[], cache: KeyValueCache) => void): Promise<void>;
}

/** Tokens read in one step; bounds its memory, and how long others wait for it. */
const tokensPerStep = 2048;

/**
 * A reader of prompts. Blocks lie at fixed positions, so the numbers of a block depend on the tokens up to its end
 * alone: not on what was kept of them, nor on who is read beside them. Equal prompts are read once.
 */
export function createPromptReader(
  model: CachedDecoder,
  adapter: ReadonlyMap<string, Tensor> | undefined,
  store: PrefixStore,
  origin: string,
): PromptReader {
  const { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: headSize } = model.config;
  const cache = createKeyValueCache({ layers, heads, headSize, step: model.capacityStep });
  const blockKeys = createBlockKeys();
  /** In the order in which they came. */
  let readings: Reading[] = [];

  /** Gives every prompt its row: first those of this step, the longest blocks first. */
  const arrange = (first: readonly Reading[]) => {
    const kept = new Map<Reading, KeyValues[]>();
    for (const reading of readings.filter(({ row }) => row < 0)) {
      // The last token is always read: what follows it is to be sampled.
      const blocks = store.find(reading.keys.slice(0, Math.ceil(reading.prompt.length / blockLength) - 1));
      reading.length = blocks.length * blockLength;
      kept.set(reading, blocks);
    }
    const sorted = first.toSorted((a, b) => nextBlock(b).length - nextBlock(a).length);
    const order = [...sorted, ...readings.filter((reading) => !first.includes(reading))];
    cache.arrange(
      order.map(({ row }) => row),
      // The longest block pads the others.
      Math.max(0, ...order.map(({ length }) => length)) + blockLength,
    );
    order.forEach((reading, row) => {
      reading.row = row;
      kept.get(reading)?.forEach((block, at) => {
        cache.write(row, at * blockLength, block, { row: 0, length: blockLength, count: blockLength });
      });
    });
    return sorted;
  };

  const run = async (taken: readonly Reading[], ending: readonly Sequence[]): Promise<NextTokens> => {
    const tokens = taken.map(nextBlock);
    const start = taken[0]!.row;
    const past = {
      ...cache.view(start, start + taken.length),
      capacity: cache.capacity(),
      lengths: taken.map(({ length }) => length),
    };
    const output = await model.run({
      tokens,
      // A single row of scores takes another kernel than several.
      length: Math.max(2, ...tokens.map((row) => row.length)),
      past,
      wanted: wantedBy(ending),
      inverseTemperatures: tempered(taken.map(({ sequences: [sequence] }) => sequence)),
      ...(adapter && { adapter }),
    });
    await prepareAll(ending);
    return output;
  };

  const keep = (reading: Reading) => {
    const key = reading.keys[reading.length / blockLength];
    if (key !== undefined) store.keep(key, cache.cut(reading.row, reading.length, blockLength));
  };

  const take = (reading: Reading, index: number, output: NextTokens) => {
    const count = nextBlock(reading).length;
    keep(reading);
    reading.length += count;
    if (!isRead(reading)) return;
    for (const sequence of reading.sequences) {
      sequence.length = reading.length;
      sequence.advance(nextTokenOf(output, index, model.config.vocab_size));
    }
  };

  const read = async (taken: readonly Reading[]) => {
    const ending = taken.filter(({ prompt, length }) => prompt.length - length <= blockLength);
    try {
      const output = await run(
        taken,
        ending.flatMap(({ sequences }) => sequences),
      );
      taken.forEach((reading, index) => {
        take(reading, index, output);
      });
    } catch (error) {
      for (const { sequences } of taken) for (const sequence of sequences) sequence.fail(error);
    }
  };

  return {
    sequences: () => readings.flatMap((reading) => reading.sequences),
    extent: () => ({
      rows: readings.length,
      positions: Math.max(0, ...readings.map(({ prompt }) => prompt.length)),
    }),
    add(sequence) {
      const { prompt, temperature, trajectory } = sequence;
      const same = readings.find(
        (reading) => reading.sequences[0]?.temperature === temperature && isEqual(reading.prompt, prompt),
      );
      if (same) same.sequences.push(sequence);
      else {
        const keys = blockKeys(origin, trajectory, prompt);
        readings.push({ prompt, keys, sequences: [sequence], row: -1, length: 0 });
      }
    },
    async step(finished) {
      readings = readings.filter(({ sequences }) => !sequences.every(({ done }) => done));
      if (readings.length === 0) return;
      const taken = arrange(readings.slice(0, tokensPerStep / blockLength));
      for (const group of ofSimilarLength(taken)) await read(group);
      finished(readings.filter(isRead), cache);
      readings = readings.filter((reading) => !isRead(reading));
      if (readings.length === 0) cache.arrange([], 0);
    },
  };
}

/** Readings one after the other in groups in which little is padded; they come with the longest block first. */
function ofSimilarLength(readings: readonly Reading[]): Reading[][] {
  const groups: Reading[][] = [];
  for (const reading of readings) {
    const group = groups.at(-1);
    if (group && nextBlock(reading).length >= 0.75 * nextBlock(group[0]!).length) group.push(reading);
    else groups.push([reading]);
  }
  return groups;
}

function nextBlock({ prompt, length }: Reading): readonly number[] {
  return prompt.slice(length, length + blockLength);
}

function isRead({ prompt, length }: Reading): boolean {
  return length === prompt.length;
}

function isEqual(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((token, at) => token === b[at]);
}
