import type { CachedDecoder, DecoderRun, Past } from "../models/cached-decoder.ts";
import type { Tensor } from "../models/safetensors.ts";
import { createKeyValueCache, type KeyValueCache } from "./key-value-cache.ts";
import { bytesOfPosition, paddedPositions } from "./memory-check.ts";
import { nextTokenOf, prepareAll, tempered, wantedBy } from "./next-tokens.ts";
import type { PrefixStore } from "./prefix-store.ts";
import { createPromptReader, type ReadPrompt } from "./prompt-reader.ts";
import type { Sequence } from "./sequence.ts";

/** Sequences that are read and decoded together under one version of the weights. */
export interface Batch {
  /** How many sequences are in it. */
  size(): number;
  /** Bytes of keys and values that its sequences may come to need, were `more` to join. */
  needs(more?: readonly Sequence[]): number;
  /** The same with what it holds beyond: memory of earlier sequences. */
  bytes(more?: readonly Sequence[]): number;
  /** Takes sequences in; their prompts are read in the next steps. */
  join(sequences: readonly Sequence[]): void;
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
  const { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: headSize } = model.config;
  const cache = createKeyValueCache({ layers, heads, headSize, step: model.capacityStep });
  const reader = createPromptReader(model, adapter, store, origin);
  let active: Sequence[] = [];
  /** The next run, but for its tokens and lengths, as long as rows stay where they are. */
  let prepared: DecodingRun | undefined;

  /** Positions that sequences may come to fill in the cache, each with as much room as the longest. */
  const planned = (sequences: readonly Sequence[]) =>
    paddedPositions(
      sequences.map(({ room }) => room),
      model.capacityStep,
    );

  /** Makes row i what row from[i] was, with room for a token more than the longest sequence has. */
  const arrange = (from: readonly number[]) => {
    cache.arrange(from, longest(active) + 1, planned(active));
    prepared = undefined;
  };

  /** Frees the rows of sequences that are done, filling each hole with a last row. */
  const compact = () => {
    const rows = [...active.keys()].filter((row) => !active[row]!.done);
    const last = rows.filter((row) => row >= rows.length);
    const order = Array.from(rows, (_, row) => (active[row]!.done ? last.pop()! : row));
    active = order.map((row) => active[row]!);
    arrange(order);
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

  const prepare = (): DecodingRun => ({
    length: 1,
    tokens: active.map(() => [0]),
    past: { ...cache.view(0, active.length), capacity: cache.capacity(), lengths: active.map(() => 0) },
    wanted: wantedBy(active),
    inverseTemperatures: tempered(active),
    ...(adapter && { adapter }),
  });

  const decode = async () => {
    if (active.some(({ done }) => done)) compact();
    if (active.length === 0) return;
    if (longest(active) === cache.capacity()) arrange([...active.keys()]);
    prepared ??= prepare();
    const run = prepared;
    active.forEach(({ tokens, length }, row) => {
      run.tokens[row]![0] = tokens.at(-1)!;
      run.past.lengths[row] = length;
    });
    const output = await model.run(run);
    await prepareAll(active);
    active.forEach((sequence, row) => {
      sequence.length++;
      sequence.advance(nextTokenOf(output, model.config.vocab_size, row));
    });
  };

  const decodingNeeds = (more: readonly Sequence[]) => {
    const sequences = [...active.filter(({ done }) => !done), ...reader.sequences(), ...more];
    return planned(sequences) * bytesOfPosition(model.config);
  };

  return {
    size: () => active.filter(({ done }) => !done).length + reader.sequences().length,
    trim() {
      if (active.some(({ done }) => done)) compact();
      cache.trim(active.length, active.length === 0 ? 0 : longest(active) + 1);
      prepared = undefined;
      reader.rest();
    },
    rest() {
      if (active.every(({ done }) => done)) compact();
      reader.rest();
    },
    needs: (more = []) => decodingNeeds(more) + reader.needs(more),
    bytes: (more = []) =>
      Math.max(decodingNeeds(more), cache.bytes()) + Math.max(reader.needs(more), reader.bytes()),
    join(sequences) {
      for (const sequence of sequences) reader.add(sequence);
    },
    async step() {
      if (reader.isReading()) await reader.step(enter);
      try {
        await decode();
      } catch (error) {
        for (const sequence of active) sequence.fail(error);
      }
    },
  };
}

/** One token more for each sequence, to be filled in. */
interface DecodingRun extends DecoderRun {
  tokens: number[][];
  past: Past & { lengths: number[] };
}

/** Positions of the longest sequence that is not done. */
function longest(sequences: readonly Sequence[]): number {
  return sequences.reduce((length, { done, length: own }) => (done ? length : Math.max(length, own)), 0);
}
