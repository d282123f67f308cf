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
import { createPositionsOf, type PositionsOf } from "./positions-of.ts";
import { blockLength, keptLength, type PrefixStore, type PromptBlock } from "./prefix-store.ts";
import { readingPasses } from "./reading-passes.ts";
import type { NextToken } from "./sample-token.ts";
import type { Sequence } from "./sequence.ts";

/** A prompt being read, and the sequences that have it. */
interface Reading {
  readonly prompt: readonly number[];
  readonly keys: readonly string[];
  readonly sequences: Sequence[];
  /** Another prompt with the same beginning, and how many of its tokens must be read first. */
  readonly after: { reading: Reading; tokens: number } | undefined;
  /** Its row in the cache; −1 before it has one. */
  row: number;
  /** The number of tokens whose keys and values are known. */
  length: number;
  /** The tokens to read next. */
  next: readonly number[];
  /** Whether these are whole blocks, if whole blocks are read differently. */
  isWhole: boolean;
  /** Routing ties of the tokens so far. */
  ties: number[];
}

/** A prompt that has been read. Its keys and values are in a row of the reader's cache. */
export interface ReadPrompt {
  readonly row: number;
  readonly sequences: readonly Sequence[];
}

/** Reads prompts, a part of each at a time. */
export interface PromptReader {
  /** Returns the sequences whose prompts are being read. */
  sequences(): Sequence[];
  /** Returns the bytes of keys and values that the prompts, and those of `more`, need to their end. */
  needs(more: readonly Sequence[]): number;
  /** Returns the bytes of keys and values that it holds or will need. */
  bytes(): number;
  /** Returns the prompt lengths of the sequences whose prompts the next step may finish. */
  ending(): number[];
  add(sequence: Sequence): void;
  /** Stops reading for a sequence. */
  remove(sequence: Sequence): void;
  /** Whether it has prompts to read. */
  isReading(): boolean;
  /** Reads a part of the first prompts. Passes finished ones to `finished` and forgets them. */
  step(finished: (prompts: readonly ReadPrompt[], cache: KeyValueCache) => void): Promise<void>;
  /**
   * Stores the blocks of a sequence's prompt that the store has dropped, from a row of another cache. Returns whether
   * it stored any.
   */
  keepAgain(sequence: Sequence, cache: KeyValueCache, row: number): boolean;
  /** Releases the memory of keys and values that the current prompts don't need now. */
  trim(): void;
  /** Releases that memory if no prompt is being read. */
  rest(): void;
}

/**
 * Most tokens to read in one step, but at least a block of each prompt. It limits memory, and how long other sequences
 * wait.
 */
const tokensPerStep = 2048;

/** Most positions of the prompts read together, but at least one prompt. Each prompt has a row of its whole length. */
const positionsAtOnce = 8192;

/** Most memory to keep for the next prompts. New memory would have to be mapped again. */
const bytesKept = 32 * 2 ** 20;

/**
 * Creates a reader of prompts. Stored blocks are at fixed positions. So a prompt's numbers depend only on its own
 * tokens, not on stored blocks or on other prompts. Equal prompts are read once.
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
  const positionsOf = createPositionsOf(config);
  /** In order of arrival. */
  let readings: Reading[] = [];

  /**
   * Returns the keys of a prompt's blocks. If whole blocks are read differently from the rest, only those of whole
   * blocks.
   */
  const keysOf = ({ trajectory, prompt }: Sequence) => {
    const keys = blockKeys(origin, trajectory, prompt);
    return readsBlocksApart ? keys.slice(0, wholeBlocks(prompt)) : keys;
  };

  /**
   * Returns the keys of blocks that can come from the store. The last token is always read, because the model samples
   * the next one from it.
   */
  const usable = ({ prompt, keys }: Pick<Reading, "prompt" | "keys">) =>
    keys.slice(0, Math.ceil(prompt.length / kept) - 1);

  /** Returns the prompt whose reading covers most of another's beginning, if waiting for it saves at least a block. */
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

  /** Returns the number of tokens in a pass, limited by the memory of their attention scores. */
  const passLength = () =>
    Math.min(reads.atOnce, Math.floor(reads.scores / (config.num_attention_heads * longestPrompt())));

  /** Returns the prompts to read together, in order: those that have begun, and others up to the limit. */
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

  /**
   * Returns the first prompts up to a step's limit, each with its next part, and the stored blocks of prompts that
   * begin.
   */
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
    // Touches the blocks of waiting prompts, so that the store drops others first.
    for (const reading of readings) if (reading.row < 0 && !found.has(reading)) store.find(usable(reading));
    return { taken, found };
  };

  /** Gives every prompt that has begun a row. Rows of the passes come first, in order. */
  const arrange = (
    passes: readonly Reading[][],
    begun: readonly Reading[],
    found: ReadonlyMap<Reading, PromptBlock[]>,
  ) => {
    const taken = new Set(passes.flat());
    const order = [...taken, ...begun.filter((reading) => !taken.has(reading))];
    const padded = new Map(
      passes.flatMap((pass) =>
        pass.map((reading) => [reading, longest(pass.map(({ next }) => next.length))]),
      ),
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
        positions: positionsOf && taken.map((reading) => newPositions(reading, positionsOf)),
        embeddings: taken.flatMap(({ sequences: [sequence] }) => sequence?.embeddings ?? [])[0],
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

  /** Stores the blocks that a pass has read. */
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
      const most = passLength();
      const { taken, found } = take(most);
      const begun = readings.filter((reading) => reading.row >= 0 || found.has(reading));
      const passes = readingPasses(taken, most);
      arrange(passes, begun, found);
      for (const pass of passes) await read(pass);
      finished(readings.filter(isRead), cache);
      readings = readings.filter((reading) => !isRead(reading));
      if (cache.bytes() > bytesKept) rest();
    },
    trim,
    rest,
  };
}

/** Returns the positions of the tokens that a prompt reads next. */
function newPositions({ prompt, sequences, length, next }: Reading, positionsOf: PositionsOf) {
  return positionsOf({ prompt, embeddings: sequences[0]?.embeddings }, length, next.length);
}

/** Returns the number of whole blocks before a prompt's last token. */
function wholeBlocks(prompt: readonly number[]): number {
  return Math.floor((prompt.length - 1) / blockLength);
}

/** Returns the number of equal elements at the start. */
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
