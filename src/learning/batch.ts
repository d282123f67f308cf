import { EverturnError } from "../errors/everturn-error.ts";
import type { LlamaConfig } from "../models/llama-config.ts";
import type { Tensor } from "../onnx/session.ts";

/** Token ids, and a mask that is 1 where the policy wrote the token, 0 elsewhere. */
export interface TokenSequence {
  readonly tokens: readonly number[];
  readonly mask: readonly number[];
}

/** Sequences as a model takes them: [batch, length], padded on the right, with the rows that carry loss. */
export interface TokenBatch {
  readonly batch: number;
  /** The longest sequence, rounded up to a multiple of 8. */
  readonly length: number;
  readonly tokens: BigInt64Array;
  readonly positions: BigInt64Array;
  /** For each action token, in order: the row in [batch · length] that predicts it (the token before), */
  readonly rows: BigInt64Array;
  /** and its id. */
  readonly targets: BigInt64Array;
}

const lengthStep = 8;

/**
 * Pads sequences to one batch. Tokens after the last action token have no part in the loss and are left out.
 * Throws TRAINING_BATCH_INVALID for a sequence that is too long, whose mask doesn't fit or marks the first token
 * (nothing predicts it), for ids outside the vocabulary, and if no token carries loss.
 */
export function batchSequences(sequences: readonly TokenSequence[], config: LlamaConfig): TokenBatch {
  checkSequences(sequences, config);
  const ends = sequences.map(({ mask }) => Math.max(1, mask.lastIndexOf(1)));
  const length = Math.ceil(Math.max(1, ...ends) / lengthStep) * lengthStep;
  const batch = sequences.length;
  const tokens = new BigInt64Array(batch * length);
  const positions = new BigInt64Array(batch * length);
  const rows: bigint[] = [];
  const targets: bigint[] = [];
  sequences.forEach((sequence, index) => {
    const start = index * length;
    for (let at = 0; at < ends[index]!; at++) {
      tokens[start + at] = BigInt(sequence.tokens[at]!);
      positions[start + at] = BigInt(at);
    }
    for (const at of actionPositions(sequence)) {
      rows.push(BigInt(start + at - 1));
      targets.push(BigInt(sequence.tokens[at]!));
    }
  });
  if (rows.length === 0) throw invalid("none of its tokens carries loss");
  return {
    batch,
    length,
    tokens,
    positions,
    rows: BigInt64Array.from(rows),
    targets: BigInt64Array.from(targets),
  };
}

/** A batch under the names that the training models' inputs have. */
export function batchFeeds({
  batch,
  length,
  tokens,
  positions,
  rows,
  targets,
}: TokenBatch): Record<string, Tensor> {
  const whole = [batch, length];
  const some = [rows.length];
  return {
    tokens: { shape: whole, data: tokens },
    positions: { shape: whole, data: positions },
    rows: { shape: some, data: rows },
    targets: { shape: some, data: targets },
  };
}

/** Where the action tokens of a sequence are. */
export function actionPositions({ mask }: TokenSequence): number[] {
  return mask.flatMap((marked, at) => (marked === 1 ? [at] : []));
}

/** Throws TRAINING_BATCH_INVALID for sequences that can't be batched, by their number. */
export function checkSequences(sequences: readonly TokenSequence[], config: LlamaConfig): void {
  for (const [index, sequence] of sequences.entries()) {
    const problem = problemOf(sequence, config);
    if (problem) throw invalid(`sequence ${index} ${problem}`);
  }
}

function problemOf({ tokens, mask }: TokenSequence, config: LlamaConfig): string | undefined {
  if (tokens.length !== mask.length) return `has ${tokens.length} tokens, but a mask of ${mask.length}`;
  if (tokens.length === 0) return "is empty";
  const positions = config.max_position_embeddings;
  if (tokens.length > positions) return `has ${tokens.length} tokens, more than the model's ${positions}`;
  const strange = tokens.find((token) => !Number.isInteger(token) || token < 0 || token >= config.vocab_size);
  if (strange !== undefined) return `holds the id ${strange}, outside the vocabulary of ${config.vocab_size}`;
  if (mask.some((marked) => marked !== 0 && marked !== 1)) return "has a mask of other numbers than 0 and 1";
  return mask[0] === 1 ? "marks its first token, which nothing predicts" : undefined;
}

function invalid(reason: string): EverturnError {
  return new EverturnError("TRAINING_BATCH_INVALID", { reason });
}
