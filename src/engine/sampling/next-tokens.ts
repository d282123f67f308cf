import type { NextTokenOutput, NextTokens } from "../models/decode/cached-decoder.ts";
import type { NextToken } from "./sample-token.ts";
import type { Sequence } from "./sequence.ts";

/** Returns the outputs that the sequences need for their next tokens. */
export function wantedBy(sequences: readonly Sequence[]): NextTokenOutput[] {
  const wanted = new Set<NextTokenOutput>();
  for (const sequence of sequences) for (const output of sequence.wanted) wanted.add(output);
  return [...wanted];
}

/** Returns 1 / temperature for each row; 1 for temperature 0 and for rows without a sequence. */
export function tempered(sequences: readonly (Sequence | undefined)[]): Float32Array {
  return Float32Array.from(sequences, (sequence) => 1 / (sequence?.temperature || 1));
}

/** Computes the tokens that the sequences' grammars allow next. */
export async function prepareAll(sequences: readonly Sequence[]): Promise<void> {
  for (const sequence of sequences) {
    if (sequence.prepare) await sequence.prepare().catch((error: unknown) => sequence.fail(error));
  }
}

/** Returns the model's output for the next token of a row. */
export function nextTokenOf(output: NextTokens, vocabulary: number, row: number): NextToken {
  const cut = (array: Float32Array) => array.subarray(row * vocabulary, (row + 1) * vocabulary);
  return {
    choice: () => output.choice(row),
    // Rarely are both needed, and often neither.
    weights: () => cut(output.weights),
    logits: () => cut(output.logits),
    ...(output.ties && { ties: output.ties[row] ?? [] }),
    ...(output.draw && { draw: (uniform) => output.draw!(row, uniform) }),
  };
}
