import { defined } from "../../base/records/defined.ts";
import { tiesBetween } from "../../contracts/router-ties.ts";
import type { CachedDecoder, DecoderRun, Past } from "../models/decode/cached-decoder.ts";
import { bytesOfPosition } from "../models/decode/key-values.ts";
import type { Tensor } from "../models/weights/safetensors.ts";
import { createDecoderCache, type KeyValueCache, longest } from "./key-value-cache.ts";
import { positionsTaken } from "./memory-check.ts";
import { nextTokenOf, prepareAll, tempered, wantedBy } from "./next-tokens.ts";
import type { PrefixStore } from "./prefix-store.ts";
import { createPromptReader, type ReadPrompt } from "./prompt-reader.ts";
import type { Sequence } from "./sequence.ts";

/** Sequences that are read and decoded together under one version of the weights. */
export interface Batch {
  /** How many sequences are in it. */
  size(): number;
  /** The sequence that came last; none in an empty batch. */
  youngest(): Sequence[];
  /**
   * Bytes of keys and values that its sequences need until their prompts are read and each has `ahead` tokens more,
   * were `more` to join.
   */
  needs(ahead: number, more?: readonly Sequence[]): number;
  /** Bytes that it holds after the next step: with memory of earlier sequences. */
  bytes(): number;
  /** Takes sequences in; their prompts are read in the next steps, and what they have sampled is decoded again. */
  join(sequences: readonly Sequence[]): void;
  /** Lets a sequence go that is not done, and its keys and values. What it has sampled stays, and it may join again. */
  leave(sequence: Sequence): void;
  /** Reads a block of prompts, and samples one token for each sequence whose prompt has been read. */
  step(): Promise<void>;
  /** Gives back the memory of keys and values that its sequences don't need now. */
  trim(): void;
  /** The same, if no sequence is left. */
  rest(): void;
}

/** What a batch is made of. */
export interface BatchOptions {
  model: CachedDecoder;
  adapter?: ReadonlyMap<string, Tensor>;
  store: PrefixStore;
  /** Names the weights in the store. */
  origin: string;
}

/** An empty batch. A run that fails fails its sequences, and only them. */
export function createBatch({ model, adapter, store, origin }: BatchOptions): Batch {
  const { capacityStep: step, rowStep, isSparse: sparse } = model;
  const cache = createDecoderCache(model);
  const reader = createPromptReader(model, adapter, store, origin);
  let active: Sequence[] = [];
  /** The next run, but for its tokens and lengths, as long as rows stay where they are. */
  let prepared: DecodingRun | undefined;

  /** Positions that the rows have after the next token. */
  const nextLengths = () => active.map(({ done, length }) => (done ? 0 : length + 1));

  /** Makes row i what row from[i] was, with room for its next token. */
  const arrange = (from: readonly number[]) => {
    const lengths = nextLengths();
    const room = longest(lengths);
    // Room that costs nothing is taken twice over, so that rows seldom have to move.
    cache.arrange(from, lengths, sparse && room > cache.capacity() ? 2 * room : room);
    prepared = undefined;
  };

  /** Keeps the rows of some sequences, filling each hole with a last row. */
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

  /** Gives those that join the rows of sequences that are done, then new ones. */
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

  const prepare = (): DecodingRun => {
    // Rows that are there beside those of sequences: what they remember is nobody's.
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
    const run = prepared;
    active.forEach(({ prompt, tokens, length }, row) => {
      run.tokens[row]![0] = tokens[length - prompt.length]!;
      run.past.lengths[row] = length;
    });
    const output = await model.run(run);
    for (const sequence of active) sequence.length++;
    await prepareAll(active);
    active.forEach((sequence, row) => {
      const next = nextTokenOf(output, model.config.vocab_size, row);
      sequence.addTies(tiesBetween(next.ties, 0, 1, sequence.length - 1), sequence.length);
      sequence.advance(next);
    });
    keepPrompts();
  };

  /** Keeps prompts of sequences that are done, where what was kept of them gave way to others under way: their memory goes over to the store. */
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

/** One token more for each sequence, to be filled in. */
interface DecodingRun extends DecoderRun {
  tokens: number[][];
  past: Past & { lengths: number[] };
}
