import type { CachedDecoder } from "../models/cached-decoder.ts";
import { createKeyValueCache } from "./key-value-cache.ts";
import type { Sequence } from "./sequence.ts";

/** Sequences that decode together under one version of the weights. */
export type Batch = {
  /** How many sequences are in it. */
  size(): number;
  /** Reads the contexts of new sequences and samples their first tokens. */
  join(sequences: readonly Sequence[]): Promise<void>;
  /** Samples one token for each sequence. */
  step(): Promise<void>;
};

/** Tokens read in one run, padding included; bounds the memory of a run, and how long it holds the thread. */
const tokensPerRun = 2048;

/** An empty batch for at most `rows` sequences. A run that fails fails its sequences, and only them. */
export function createBatch(model: CachedDecoder, rows: number): Batch {
  const { layers, keyValueHeads: heads, headSize, vocabularySize } = model;
  const cache = createKeyValueCache({ rows, layers, heads, headSize });
  const active: Sequence[] = [];

  const advance = (sequences: readonly Sequence[], logits: Float32Array) => {
    sequences.forEach((sequence, row) => {
      sequence.advance(logits.subarray(row * vocabularySize, (row + 1) * vocabularySize));
    });
  };

  const read = async (sequences: readonly Sequence[]) => {
    const output = await model.run(sequences.map((sequence) => sequence.prompt));
    advance(sequences, output.logits);
    const staying = sequences.filter((sequence) => !sequence.done);
    cache.resize(longest([...active, ...staying], (sequence) => sequence.length || sequence.prompt.length));
    for (const sequence of staying) {
      const count = sequence.prompt.length;
      cache.write(active.length, 0, output, {
        row: sequences.indexOf(sequence),
        length: output.length,
        count,
      });
      sequence.length = count;
      active.push(sequence);
    }
  };

  /** Frees the rows of sequences that are done, filling each hole with the last row. */
  const compact = () => {
    for (let row = active.length - 1; row >= 0; row--) {
      if (!active[row]!.done) continue;
      const last = active.pop()!;
      if (row === active.length) continue;
      cache.move(active.length, row);
      active[row] = last;
    }
  };

  const decode = async () => {
    compact();
    cache.resize(active.length === 0 ? 0 : longest(active, (sequence) => sequence.length) + 1);
    if (active.length === 0) return;
    const lengths = active.map((sequence) => sequence.length);
    const past = { ...cache.view(active.length), capacity: cache.capacity(), lengths };
    const latest = active.map((sequence) => [sequence.tokens.at(-1)!]);
    const output = await model.run(latest, past);
    active.forEach((sequence, row) => {
      cache.write(row, sequence.length, output, { row, length: 1, count: 1 });
      sequence.length++;
    });
    advance(active, output.logits);
    compact();
  };

  return {
    size: () => active.length,
    async join(sequences) {
      for (const part of partsOf(sequences)) await guarded(part, () => read(part));
    },
    step: () => guarded(active, decode),
  };
}

async function guarded(sequences: readonly Sequence[], run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    for (const sequence of sequences) sequence.fail(error);
  }
}

/** Sequences of similar length together, so that little is padded. */
function partsOf(sequences: readonly Sequence[]): Sequence[][] {
  const parts: Sequence[][] = [];
  for (const sequence of sequences.toSorted((a, b) => a.prompt.length - b.prompt.length)) {
    const part = parts.at(-1);
    if (part && (part.length + 1) * sequence.prompt.length <= tokensPerRun) part.push(sequence);
    else parts.push([sequence]);
  }
  return parts;
}

function longest(sequences: readonly Sequence[], lengthOf: (sequence: Sequence) => number): number {
  return sequences.reduce((length, sequence) => Math.max(length, lengthOf(sequence)), 0);
}
