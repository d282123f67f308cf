import { EverturnError } from "../errors/everturn-error.ts";
import { contextLength, type ModelConfig } from "../models/model-config.ts";
import type { Tensor } from "../onnx/session.ts";

/** Token ids, and a mask that is 1 where the policy wrote the token, 0 elsewhere. */
export interface TokenSequence {
  readonly tokens: readonly number[];
  readonly mask: readonly number[];
}

/**
 * Sequences as a model takes them: their tokens one after the other, a row each, without padding; only attention
 * pads them, to [batch, length].
 */
export interface TokenBatch {
  readonly batch: number;
  /** Tokens of the longest sequence, or somewhat more. */
  readonly length: number;
  /** [rows]. */
  readonly tokens: BigInt64Array;
  /** [rows]: where each token stands in its sequence. */
  readonly positions: BigInt64Array;
  /** [batch, length]: the row at each place; row 0 where there is padding. */
  readonly index: BigInt64Array;
  /** [rows]: the place of each row in [batch · length]. */
  readonly places: BigInt64Array;
  /** [batch, length]: 1 where there is a row. */
  readonly present: Float32Array;
  /** For each action token, in order: the row that predicts it (the token before), */
  readonly actions: BigInt64Array;
  /** and its id. */
  readonly targets: BigInt64Array;
}

/**
 * Joins sequences to one batch, padded to a multiple of `multiple`. Tokens after the last action token have no part in the loss and are left out.
 * Throws TRAINING_BATCH_INVALID for a sequence that is too long, whose mask doesn't fit or marks the first token
 * (nothing predicts it), for ids outside the vocabulary, and if no token carries loss.
 */
export function batchSequences(
  sequences: readonly TokenSequence[],
  config: ModelConfig,
  multiple = 1,
): TokenBatch {
  checkSequences(sequences, config);
  const ends = sequences.map(lossLength);
  const length = multiple * Math.ceil(Math.max(1, ...ends) / multiple);
  const rows = ends.reduce((total, end) => total + end, 0);
  const result = {
    batch: sequences.length,
    length,
    tokens: new BigInt64Array(rows),
    positions: new BigInt64Array(rows),
    index: new BigInt64Array(sequences.length * length),
    places: new BigInt64Array(rows),
    present: new Float32Array(sequences.length * length),
  };
  const actions: bigint[] = [];
  const targets: bigint[] = [];
  let start = 0;
  sequences.forEach((sequence, number) => {
    const end = ends[number]!;
    for (let at = 0; at < end; at++) {
      const [row, place] = [start + at, number * length + at];
      result.tokens[row] = BigInt(sequence.tokens[at]!);
      result.positions[row] = BigInt(at);
      result.index[place] = BigInt(row);
      result.places[row] = BigInt(place);
      result.present[place] = 1;
    }
    for (const at of actionPositions(sequence)) {
      actions.push(BigInt(start + at - 1));
      targets.push(BigInt(sequence.tokens[at]!));
    }
    start += end;
  });
  if (actions.length === 0) throw invalid("none of its tokens carries loss");
  return { ...result, actions: BigInt64Array.from(actions), targets: BigInt64Array.from(targets) };
}

/** A batch under the names that the training models' inputs have; logits are divided by the temperature. */
export function batchFeeds(batch: TokenBatch, temperature = 1): Record<string, Tensor> {
  const rows = [batch.tokens.length];
  const padded = [batch.batch, batch.length];
  const actions = [batch.actions.length];
  return {
    tokens: { shape: rows, data: batch.tokens },
    positions: { shape: rows, data: batch.positions },
    index: { shape: padded, data: batch.index },
    places: { shape: rows, data: batch.places },
    present: { shape: padded, data: batch.present },
    actions: { shape: actions, data: batch.actions },
    targets: { shape: actions, data: batch.targets },
    inverseTemperature: { shape: [], data: Float32Array.of(1 / temperature) },
  };
}

/** Tokens of a sequence that have a part in the loss: those before its last action token. */
export function lossLength({ mask }: TokenSequence): number {
  return Math.max(1, mask.lastIndexOf(1));
}

/** Where the action tokens of a sequence are. */
export function actionPositions({ mask }: TokenSequence): number[] {
  return mask.flatMap((marked, at) => (marked === 1 ? [at] : []));
}

/** Throws TRAINING_BATCH_INVALID for sequences that can't be batched, by their number. */
export function checkSequences(sequences: readonly TokenSequence[], config: ModelConfig): void {
  for (const [index, sequence] of sequences.entries()) {
    const problem = problemOf(sequence, config);
    if (problem) throw invalid(`sequence ${index} ${problem}`);
  }
}

function problemOf({ tokens, mask }: TokenSequence, config: ModelConfig): string | undefined {
  if (tokens.length !== mask.length) return `has ${tokens.length} tokens, but a mask of ${mask.length}`;
  if (tokens.length === 0) return "is empty";
  const positions = contextLength(config);
  if (tokens.length > positions) return `has ${tokens.length} tokens, more than the model's ${positions}`;
  const strange = tokens.find((token) => !Number.isInteger(token) || token < 0 || token >= config.vocab_size);
  if (strange !== undefined) return `holds the id ${strange}, outside the vocabulary of ${config.vocab_size}`;
  if (mask.some((marked) => marked !== 0 && marked !== 1)) return "has a mask of other numbers than 0 and 1";
  return mask[0] === 1 ? "marks its first token, which nothing predicts" : undefined;
}

function invalid(reason: string): EverturnError {
  return new EverturnError("TRAINING_BATCH_INVALID", { reason });
}
