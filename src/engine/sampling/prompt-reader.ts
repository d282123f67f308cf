import { defined } from "../../base/records/defined.ts";
import { type RouterTies, tiesBetween } from "../../contracts/router-ties.ts";
import type { CachedDecoder, NextTokens } from "../models/decode/cached-decoder.ts";
import { bytesOfPosition } from "../models/decode/key-values.ts";
import { readLength } from "../models/decode/read-length.ts";
import type { Tensor } from "../models/weights/safetensors.ts";
import { createBlockKeys } from "./block-keys.ts";
import { createDecoderCache, type KeyValueCache, longest } from "./key-value-cache.ts";
import { positionsTaken } from "./memory-check.ts";
import { nextTokenOf, prepareAll, tempered, wantedBy } from "./next-tokens.ts";
import { blockLength, keptLength, type PrefixStore, type PromptBlock } from "./prefix-store.ts";
import { readingRuns } from "./reading-runs.ts";
import type { NextToken } from "./sample-token.ts";
import type { Sequence } from "./sequence.ts";

/** A prompt being read, for the sequences that have it. */
interface Reading {
  readonly prompt: readonly number[];
  readonly keys: readonly string[];
  readonly sequences: Sequence[];
  /** Another prompt that begins alike, and how many tokens of it are to be read first. */
  readonly after: { reading: Reading; tokens: number } | undefined;
  /** Its row in the cache; −1 before it has one. */
  row: number;
  /** Tokens whose keys and values are known. */
  length: number;
  /** The tokens that are read next. */
  next: readonly number[];
  /** Whether these are whole blocks, where such are read otherwise than others. */
  isWhole: boolean;
  /** Of the tokens so far. */
  ties: number[];
}

/** A prompt that has been read: its keys and values are in a row of the reader's cache. */
export interface ReadPrompt {
  readonly row: number;
  readonly sequences: readonly Sequence[];
}

/** Reads prompts, a part of each at a time. */
export interface PromptReader {
  /** Sequences whose prompts are being read. */
  sequences(): Sequence[];
  /** Bytes of keys and values that prompts need to their end, were `more` to be read. */
  needs(more: readonly Sequence[]): number;
  /** Bytes of keys and values that it holds, or will need. */
  bytes(): number;
  /** Tokens of the prompts of sequences that the next step may read to their ends. */
  ending(): number[];
  add(sequence: Sequence): void;
  /** Reads no more for a sequence. */
  remove(sequence: Sequence): void;
  /** Whether there are prompts to read. */
  isReading(): boolean;
  /** Reads a part of the first prompts; those that have been read to their end are handed over, and forgotten. */
  step(finished: (prompts: readonly ReadPrompt[], cache: KeyValueCache) => void): Promise<void>;
  /** Keeps what is no longer kept of a sequence's prompt, from a row of another cache: whether there was anything. */
  keepAgain(sequence: Sequence, cache: KeyValueCache, row: number): boolean;
  /** Gives back the memory of keys and values that the prompts being read don't need now. */
  trim(): void;
  /** The same, if no prompt is being read. */
  rest(): void;
}

/** Tokens read in one step, a block of each prompt at least; bounds its memory, and how long others wait for it. */
const tokensPerStep = 2048;

/** Positions of the prompts that are read at once, of one prompt at least: each has a row of its whole length. */
const positionsAtOnce = 8192;

/** Memory that is kept between prompts for the next ones: made anew, all of it would have to be mapped again. */
const bytesKept = 32 * 2 ** 20;

/**
 * A reader of prompts. What is kept of them lies at fixed positions, so its numbers depend on the tokens up to its end
 * alone: not on what was kept of them, nor on who is read beside them. Equal prompts are read once.
 */
export function createPromptReader(
  model: CachedDecoder,
  adapter: ReadonlyMap<string, Tensor> | undefined,
  store: PrefixStore,
  origin: string,
): PromptReader {
  const { config, capacityStep: step, isSparse: sparse, reads, readsBlocksApart } = model;
  const cache = createDecoderCache(model);
  const kept = keptLength(model);
  const blockKeys = createBlockKeys(kept);
  /** In the order in which they came. */
  let readings: Reading[] = [];

  /** The keys of a prompt's blocks; where whole ones are read otherwise than what is left of it, of these alone. */
  const keysOf = ({ trajectory, prompt }: Sequence) => {
    const keys = blockKeys(origin, trajectory, prompt);
    return readsBlocksApart ? keys.slice(0, wholeBlocks(prompt)) : keys;
  };

  /** The keys of blocks that may be kept. The last token is always read: what follows it is to be sampled. */
  const usable = ({ prompt, keys }: Pick<Reading, "prompt" | "keys">) =>
    keys.slice(0, Math.ceil(prompt.length / kept) - 1);

  /** The prompt that reads the most of what another begins with, if that spares it a run of some length. */
  const precursor = (prompt: readonly number[], keys: readonly string[]): Reading["after"] => {
    const own = usable({ prompt, keys });
    let [best, shared] = [undefined as Reading | undefined, 0];
    for (const reading of readings) {
      const common = sharedLength(reading.keys, own);
      if (common > shared) [best, shared] = [reading, common];
    }
    const isWorthIt = () => (shared - store.find(own).length) * kept >= blockLength;
    return best && isWorthIt() ? { reading: best, tokens: shared * kept } : undefined;
  };

  const isWaiting = ({ after }: Reading) =>
    after !== undefined && readings.includes(after.reading) && after.reading.length < after.tokens;

  const longestPrompt = () => longest(readings.map(({ prompt }) => prompt.length));

  /** Tokens of a run, so that their scores fit. */
  const runLength = () =>
    Math.min(reads.atOnce, Math.floor(reads.scores / (config.num_attention_heads * longestPrompt())));

  /** Of prompts in their order: those that have begun, and as many as are read at once. */
  const atOnce = <Prompt extends Pick<Reading, "prompt" | "row">>(prompts: readonly Prompt[]): Prompt[] => {
    let positions = 0;
    let isFull = false;
    return prompts.filter(({ prompt, row }) => {
      isFull ||= positions > 0 && positions + prompt.length > positionsAtOnce;
      if (isFull && row < 0) return false;
      positions += prompt.length;
      return true;
    });
  };

  /** The first prompts, as many as a step reads, each with what is next of it; and what is kept of those that begin. */
  const take = (most: number) => {
    const taken: Reading[] = [];
    const found = new Map<Reading, PromptBlock[]>();
    const parts = Math.floor(Math.min(reads.ofPrompt, most) / blockLength);
    const partLength = blockLength * Math.max(1, parts);
    let room = Math.max(tokensPerStep, reads.atOnce);
    for (const reading of atOnce(readings.filter((one) => !isWaiting(one)))) {
      const { prompt, row } = reading;
      const blocks = row < 0 ? store.find(usable(reading)) : [];
      const length = row < 0 ? blocks.length * kept : reading.length;
      const wholes = readsBlocksApart ? wholeBlocks(prompt) * blockLength : 0;
      const isWhole = length < wholes;
      const end = Math.min(isWhole ? wholes : prompt.length, length + partLength);
      const next = prompt.slice(length, end);
      room -= Math.max(next.length, blockLength);
      if (room < 0) break;
      Object.assign(reading, { length, next, isWhole });
      if (row < 0) found.set(reading, blocks);
      taken.push(reading);
    }
    // What is kept of those that wait is wanted before what others leave.
    for (const reading of readings) if (reading.row < 0 && !found.has(reading)) store.find(usable(reading));
    return { taken, found };
  };

  /** Gives every prompt that has begun its row: first those of the runs, in their order. */
  const arrange = (
    runs: readonly Reading[][],
    begun: readonly Reading[],
    found: ReadonlyMap<Reading, PromptBlock[]>,
  ) => {
    const taken = new Set(runs.flat());
    const order = [...taken, ...begun.filter((reading) => !taken.has(reading))];
    const padded = new Map(
      runs.flatMap((run) => run.map((reading) => [reading, longest(run.map(({ next }) => next.length))])),
    );
    cache.arrange(
      order.map(({ row }) => row),
      order.map((reading) => reading.length + (padded.get(reading) ?? 0)),
    );
    order.forEach((reading, row) => {
      reading.row = row;
      found.get(reading)?.forEach((block, at) => {
        cache.write(row, at * kept, block, { row: 0, length: kept, count: kept });
        reading.ties.push(...(block.ties ?? []));
      });
    });
  };

  const run = async (taken: readonly Reading[], ending: readonly Sequence[]): Promise<NextTokens> => {
    const tokens = taken.map(({ next }) => next);
    const start = taken[0]!.row;
    const past = {
      ...cache.view(start, start + taken.length),
      capacity: cache.capacity(),
      lengths: taken.map(({ length }) => length),
    };
    const output = await model.run(
      defined({
        tokens,
        length: readLength(longest(tokens.map((row) => row.length))),
        isWhole: taken[0]!.isWhole,
        past,
        wanted: wantedBy(ending),
        inverseTemperatures: tempered(taken.map(({ sequences: [sequence] }) => sequence)),
        adapter,
      }),
    );
    for (const sequence of ending) sequence.length = sequence.prompt.length;
    await prepareAll(ending);
    return output;
  };

  const blockOf = (from: KeyValueCache, row: number, at: number, all: RouterTies): PromptBlock => {
    const ties = tiesBetween(all, at, at + kept);
    return defined({ ...from.cut(row, at, kept), ties: ties.length > 0 ? ties : undefined });
  };

  /** Keeps the blocks that a run has read. */
  const keep = ({ keys, row, length, next, ties }: Reading) => {
    for (let at = length; at + kept <= length + next.length; at += kept) {
      const key = keys[at / kept];
      if (key !== undefined) store.keep(key, blockOf(cache, row, at, ties), origin);
    }
  };

  const advance = (reading: Reading, next: NextToken) => {
    const { length } = reading.next;
    reading.ties.push(...tiesBetween(next.ties, 0, length, reading.length));
    keep(reading);
    reading.length += length;
    if (!isRead(reading)) return;
    for (const sequence of reading.sequences) {
      sequence.addTies(reading.ties, reading.length);
      sequence.advance(next);
    }
  };

  const read = async (taken: readonly Reading[]) => {
    const ending = taken.filter(({ prompt, length, next }) => length + next.length === prompt.length);
    try {
      const output = await run(
        taken,
        ending.flatMap(({ sequences }) => sequences),
      );
      taken.forEach((reading, index) => {
        advance(reading, nextTokenOf(output, config.vocab_size, index));
      });
    } catch (error) {
      for (const { sequences } of taken) for (const sequence of sequences) sequence.fail(error);
    }
  };

  const trim = () => {
    const begun = readings.filter(({ row }) => row >= 0);
    cache.trim(
      begun.map(({ row }) => row),
      begun.map(({ length }) => length),
    );
    begun.forEach((reading, row) => {
      reading.row = row;
    });
  };
  const rest = () => {
    if (readings.length === 0) trim();
  };

  const needs = (more: readonly Sequence[]) => {
    const prompts: Pick<Reading, "prompt" | "row">[] = [...readings];
    for (const { prompt } of more)
      if (!prompts.some((other) => isEqual(other.prompt, prompt))) prompts.push({ prompt, row: -1 });
    const lengths = atOnce(prompts).map(({ prompt }) => prompt.length);
    return positionsTaken(lengths, step, sparse) * bytesOfPosition(config, model.keyValues.type);
  };

  return {
    sequences: () => readings.flatMap((reading) => reading.sequences),
    needs,
    bytes: () => Math.max(cache.bytes(), needs([])),
    ending: () => atOnce(readings).flatMap(({ prompt, sequences }) => sequences.map(() => prompt.length)),
    keepAgain(sequence, from, row) {
      const { ties } = sequence;
      const missing = [...keysOf(sequence).entries()].filter(([, key]) => !store.has(key));
      for (const [at, key] of missing) store.keepBeyond(key, blockOf(from, row, at * kept, ties), origin);
      return missing.length > 0;
    },
    isReading: () => readings.length > 0,
    add(sequence) {
      const { prompt, temperature } = sequence;
      const same = readings.find(
        (reading) => reading.sequences[0]?.temperature === temperature && isEqual(reading.prompt, prompt),
      );
      if (same) same.sequences.push(sequence);
      else {
        const keys = keysOf(sequence);
        const after = precursor(prompt, keys);
        const start = { row: -1, length: 0, next: [], isWhole: false, ties: [] };
        readings.push({ prompt, keys, sequences: [sequence], after, ...start });
      }
    },
    remove(sequence) {
      for (const { sequences } of readings) {
        if (sequences.includes(sequence)) sequences.splice(sequences.indexOf(sequence), 1);
      }
      readings = readings.filter(({ sequences }) => sequences.length > 0);
    },
    async step(finished) {
      readings = readings.filter(({ sequences }) => !sequences.every(({ done }) => done));
      if (readings.length === 0) return;
      const most = runLength();
      const { taken, found } = take(most);
      const begun = readings.filter((reading) => reading.row >= 0 || found.has(reading));
      const runs = readingRuns(taken, most);
      arrange(runs, begun, found);
      for (const taken of runs) await read(taken);
      finished(readings.filter(isRead), cache);
      readings = readings.filter((reading) => !isRead(reading));
      if (cache.bytes() > bytesKept) rest();
    },
    trim,
    rest,
  };
}

/** How many whole blocks a prompt has before its last token, after which there is something to sample. */
function wholeBlocks(prompt: readonly number[]): number {
  return Math.floor((prompt.length - 1) / blockLength);
}

/** How many of the first are the same. */
function sharedLength(a: readonly string[], b: readonly string[]): number {
  const end = b.findIndex((key, at) => key !== a[at]);
  return end < 0 ? b.length : end;
}

function isRead({ prompt, length }: Reading): boolean {
  return length === prompt.length;
}

function isEqual(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((token, at) => token === b[at]);
}
