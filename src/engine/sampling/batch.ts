import { defined } from "../../base/records/defined.ts";
import { tiesBetween } from "../../contracts/router-ties.ts";
import type { CachedDecoder, DecoderPass, Past } from "../models/decode/cached-decoder.ts";
import { bytesOfPosition } from "../models/decode/key-values.ts";
import type { Tensor } from "../models/weights/safetensors.ts";
import { createDecoderCache, type KeyValueCache, longest } from "./key-value-cache.ts";
import { positionsTaken } from "./memory-check.ts";
import { nextTokenOf, prepareAll, tempered, wantedBy } from "./next-tokens.ts";
import { createPositionsOf } from "./positions-of.ts";
import type { PrefixStore } from "./prefix-store.ts";
import { createPromptReader, type ReadPrompt } from "./prompt-reader.ts";
import type { Sequence } from "./sequence.ts";

/** Sequences that are read and decoded together under one version of the weights. */
export interface Batch {
  /** Returns the number of its sequences. */
  size(): number;
  /** Returns the sequence that arrived last; none for an empty batch. */
  youngest(): Sequence[];
  /**
   * Returns the bytes of keys and values that its sequences, and `more` if they joined, need until their prompts are
   * read and each has `ahead` more tokens.
   */
  needs(ahead: number, more?: readonly Sequence[]): number;
  /** Returns the bytes that it holds after the next step, including memory left from earlier sequences. */
  bytes(): number;
  /** Adds sequences. The next steps read their prompts, and decode tokens again that they sampled before. */
  join(sequences: readonly Sequence[]): void;
  /** Removes an unfinished sequence and its keys and values. Its sampled tokens stay, and it may join again. */
  leave(sequence: Sequence): void;
  /** Reads a block of prompts, and samples one token for each sequence whose prompt has been read. */
  step(): Promise<void>;
  /** Releases the memory of keys and values that its sequences don't need now. */
  trim(): void;
  /** Releases that memory if no sequence is left. */
  rest(): void;
}

/** The parts of a batch. */
export interface BatchOptions {
  model: CachedDecoder;
  adapter?: ReadonlyMap<string, Tensor>;
  store: PrefixStore;
  /** The name of the weights in the store. */
  origin: string;
}

/** Creates an empty batch. A pass that fails only fails its own sequences. */
export function createBatch({ model, adapter, store, origin }: BatchOptions): Batch {
  const { capacityStep: step, rowStep, isSparse: sparse } = model;
  const cache = createDecoderCache(model);
  const reader = createPromptReader(model, adapter, store, origin);
  const positionsOf = createPositionsOf(model.config);
  let active: Sequence[] = [];
  /** The next pass without its tokens and lengths, kept while the rows keep their places. */
  let prepared: DecodingPass | undefined;

  /** Returns each row's number of positions after the next token. */
  const nextLengths = () => active.map(({ done, length }) => (done ? 0 : length + 1));

  /** Moves row from[i] to row i, with room for its next token. */
  const arrange = (from: readonly number[]) => {
    const lengths = nextLengths();
    const room = longest(lengths);
    // Room that costs nothing is doubled, so that rows seldom have to move.
    cache.arrange(from, lengths, sparse && room > cache.capacity() ? 2 * room : room);
    prepared = undefined;
  };

  /** Keeps the rows of some sequences. The last rows fill the gaps. */
  const compact = (keeps: (sequence: Sequence) => boolean) => {
    const rows = [...active.keys()].filter((row) => keeps(active[row]!));
    const last = rows.filter((row) => row >= rows.length);
    const order = Array.from(rows, (_, row) => (keeps(active[row]!) ? row : last.pop()!));
    active = order.map((row) => active[row]!);
    arrange(order);
  };

  const sweep = () => {
    if (active.some(({ done }) => done)) compact(({ done }) => !done);
  };

  /** Puts joining sequences into the rows of finished ones, then into new rows. */
  const enter = (prompts: readonly ReadPrompt[], from: KeyValueCache) => {
    const joining = prompts.flatMap(({ row, sequences }) =>
      sequences.filter(({ done }) => !done).map((sequence) => ({ row, sequence })),
    );
    if (joining.length === 0) return;
    const free = [...active.keys()].filter((row) => active[row]!.done);
    const places = joining.map((_, index) => free[index] ?? active.length + index - free.length);
    joining.forEach(({ sequence }, index) => {
      active[places[index]!] = sequence;
    });
    const isNew = new Set(places);
    arrange(active.map((_, row) => (isNew.has(row) ? -1 : row)));
    const kept = from.view(0, from.rows());
    joining.forEach(({ row, sequence }, index) => {
      cache.write(places[index]!, 0, kept, { row, length: from.capacity(), count: sequence.length });
    });
  };

  const prepare = (): DecodingPass => {
    // The cache may have rows without a sequence. Their contents don't matter.
    const rows = Math.min(cache.rows(), rowStep * Math.ceil(active.length / rowStep));
    const all = Array.from({ length: rows }, (_, row) => active[row]);
    return defined({
      length: 1,
      tokens: all.map(() => [0]),
      past: { ...cache.view(0, rows), capacity: cache.capacity(), lengths: all.map(() => 0) },
      wanted: wantedBy(active),
      inverseTemperatures: tempered(all),
      adapter,
    });
  };

  const decode = async () => {
    sweep();
    if (active.length === 0) return;
    if (active.some(({ length }) => length % step === 0)) arrange([...active.keys()]);
    prepared ??= prepare();
    const pass = prepared;
    active.forEach(({ prompt, tokens, length }, row) => {
      pass.tokens[row]![0] = tokens[length - prompt.length]!;
      pass.past.lengths[row] = length;
    });
    if (positionsOf) {
      pass.positions = pass.tokens.map((_, row) => {
        const sequence = active[row];
        return sequence ? positionsOf(sequence, sequence.length, 1) : [[0, 0, 0]];
      });
    }
    const output = await model.run(pass);
    for (const sequence of active) sequence.length++;
    await prepareAll(active);
    active.forEach((sequence, row) => {
      const next = nextTokenOf(output, model.config.vocab_size, row);
      sequence.addTies(tiesBetween(next.ties, 0, 1, sequence.length - 1), sequence.length);
      sequence.advance(next);
    });
    keepPrompts();
  };

  /**
   * Returns the prompts of finished sequences to the store if it has dropped their blocks. The store takes over their
   * memory.
   */
  const keepPrompts = () => {
    if (!cache.forget) return;
    for (const [row, sequence] of active.entries())
      if (sequence.done && reader.keepAgain(sequence, cache, row)) cache.forget(row);
  };

  const living = () => [...active.filter(({ done }) => !done), ...reader.sequences()];

  const needs = (ahead: number, more: readonly Sequence[] = []) => {
    const lengths = [...living(), ...more].map(({ prompt, tokens, room }) =>
      Math.min(room, prompt.length + tokens.length + ahead),
    );
    const bytes = bytesOfPosition(model.config, model.keyValues.type);
    return positionsTaken(lengths, step, sparse) * bytes + reader.needs(more);
  };

  return {
    size: () => active.filter(({ done }) => !done).length + reader.sequences().length,
    youngest: () =>
      living()
        .sort((a, b) => b.arrival - a.arrival)
        .slice(0, 1),
    needs,
    bytes() {
      const read = reader.ending().map((length) => length + 1);
      return cache.bytes([...nextLengths(), ...read]) + reader.bytes();
    },
    join(sequences) {
      for (const sequence of sequences) reader.add(sequence);
    },
    leave(sequence) {
      if (active.includes(sequence)) compact((other) => other !== sequence && !other.done);
      else reader.remove(sequence);
      sequence.length = 0;
    },
    async step() {
      if (reader.isReading()) await reader.step(enter);
      try {
        await decode();
      } catch (error) {
        for (const sequence of active) sequence.fail(error);
      }
    },
    trim() {
      sweep();
      cache.trim([...active.keys()], nextLengths());
      prepared = undefined;
      reader.trim();
    },
    rest() {
      if (active.every(({ done }) => done)) sweep();
      reader.rest();
    },
  };
}

/** One more token for each sequence, filled in before the pass. */
interface DecodingPass extends DecoderPass {
  tokens: number[][];
  past: Past & { lengths: number[] };
}
