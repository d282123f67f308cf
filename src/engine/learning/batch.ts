import { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import { type RouterTies, tiesOf } from "../../contracts/router-ties.ts";
import { contextLength, type ModelConfig } from "../models/config/model-config.ts";
import { routedLayers } from "../models/graph/expert-choice.ts";
import type { Tensor } from "../onnx/session.ts";

/** Token ids, and a mask that is 1 where the policy wrote the token, 0 elsewhere. */
export interface TokenSequence {
  readonly tokens: readonly number[];
  readonly mask: readonly number[];
  /** Of a mixture of experts, as it was sampled. Default: none. */
  readonly routerTies?: RouterTies;
}

/**
 * Sequences as a model takes them: their tokens one after the other, a row each, without padding; only attention
 * pads them, to [batch, length]. What sequences begin with alike, up to what they are trained on, are the same rows.
 */
export interface TokenBatch {
  readonly batch: number;
  /** Tokens that all sequences begin with and that attention takes once, the first rows; none if it takes sequences whole. */
  readonly prefix: number;
  /** Tokens of the longest sequence after the prefix, or somewhat more. */
  readonly length: number;
  /** [rows]. */
  readonly tokens: BigInt64Array;
  /** [rows]: where each token stands in its sequence. */
  readonly positions: BigInt64Array;
  /** [batch, length]: the row after the prefix at each place; the first where there is padding. */
  readonly index: BigInt64Array;
  /** Of each row after the prefix: its place in [batch · length], of those that it has the first. */
  readonly places: BigInt64Array;
  /** [batch, length]: 1 at those places. */
  readonly present: Float32Array;
  /** The rows that have more places, at least one row even if none has, */
  readonly shared: BigInt64Array;
  /** [shared, copies]: their other places, */
  readonly copies: BigInt64Array;
  /** [shared, 1, copies]: and 1 where there is such a place. */
  readonly copied: Float32Array;
  /** [rows, routers]: experts of ties, −1 where there is none. Absent without routers. */
  readonly ties?: BigInt64Array;
  /** For each action token, in order: the row that predicts it (the token before), */
  readonly actions: BigInt64Array;
  /** and its id. */
  readonly targets: BigInt64Array;
}

/**
 * Joins sequences to one batch, padded to a multiple of `multiple`. Tokens after the last action token have no part in the loss and are left out.
 * The first `prefix` tokens, at most `commonPrefix`, are kept apart.
 * Throws TRAINING_BATCH_INVALID for a sequence that is too long, whose mask doesn't fit or marks the first token
 * (nothing predicts it), for ids outside the vocabulary, and if no token carries loss.
 */
export function batchSequences(
  sequences: readonly TokenSequence[],
  config: ModelConfig,
  multiple = 1,
  prefix = 0,
): TokenBatch {
  checkSequences(sequences, config);
  const length = paddedLength(sequences, multiple, prefix);
  const { rows, actions, numbers } = rowsOf(sequences, length, prefix);
  const routers = routedLayers(config);
  if (actions.length === 0) throw invalid("none of its tokens carries loss");
  const index = new BigInt64Array(sequences.length * length);
  const present = new Float32Array(sequences.length * length);
  const own = rows.slice(prefix);
  for (const [row, { places }] of own.entries()) {
    for (const place of places) index[place] = BigInt(row);
    present[places[0]!] = 1;
  }
  const targets = sequences.flatMap((one) => actionPositions(one).map((at) => BigInt(one.tokens[at]!)));
  return defined({
    batch: sequences.length,
    prefix,
    length,
    index,
    present,
    ...copiesOf(own.map(({ places }) => places)),
    tokens: BigInt64Array.from(rows, ({ token }) => BigInt(token)),
    positions: BigInt64Array.from(rows, ({ position }) => BigInt(position)),
    places: BigInt64Array.from(own, ({ places }) => BigInt(places[0]!)),
    ties: routers.length > 0 ? tieTable(sequences, numbers, rows.length, routers) : undefined,
    actions: BigInt64Array.from(actions, BigInt),
    targets: BigInt64Array.from(targets),
  });
}

/** A token of one sequence, or of several that begin alike. */
interface TokenRow {
  token: number;
  position: number;
  /** In [batch · length]. */
  places: number[];
}

/** Numbers the rows of sequences: tokens that they begin with alike, up to what each is trained on, are the same rows. */
export interface RowNumbers {
  /** The row of each token of a sequence that has a part in the loss. */
  add(sequence: TokenSequence): number[];
  /** Rows so far. */
  count(): number;
}

/** More than any vocabulary has. */
const manyTokens = 2 ** 21;

/** Numbers from zero. */
export function createRowNumbers(): RowNumbers {
  /** Rows that others may share, by the row before and the token. */
  const known = new Map<number, number>();
  let count = 0;
  return {
    add(sequence) {
      const ownFrom = shareableLength(sequence);
      const length = lossLength(sequence);
      const rows: number[] = [];
      let row = -1;
      for (let position = 0; position < length; position++) {
        const key = (row + 1) * manyTokens + sequence.tokens[position]!;
        row = (position < ownFrom ? known.get(key) : undefined) ?? count++;
        if (position < ownFrom) known.set(key, row);
        rows.push(row);
      }
      return rows;
    },
    count: () => count,
  };
}

/** Tokens that a sequence may share: those before the one that predicts its first action token. */
function shareableLength({ mask }: TokenSequence): number {
  return Math.max(0, mask.indexOf(1) - 1);
}

/** What attention pads sequences to: the longest after a prefix, rounded up to a multiple. */
export function paddedLength(sequences: readonly TokenSequence[], multiple: number, prefix: number): number {
  return multiple * Math.ceil((Math.max(1, ...sequences.map(lossLength)) - prefix) / multiple);
}

/** How many tokens all of some sequences begin with that are the same rows in each. */
export function commonPrefix(sequences: readonly TokenSequence[]): number {
  const numbers = createRowNumbers();
  const shared = sequences.map((sequence) => {
    const other = numbers.add(sequence).findIndex((row, position) => row !== position);
    const own = shareableLength(sequence);
    return other < 0 ? own : Math.min(own, other);
  });
  return Math.min(...shared);
}

/** The rows of sequences that are padded to a length after a prefix, those of them that predict actions, and their numbers by sequence. */
export function rowsOf(sequences: readonly TokenSequence[], length: number, prefix = 0) {
  const rows: TokenRow[] = [];
  const actions: number[] = [];
  const { add } = createRowNumbers();
  const numbers = sequences.map(add);
  sequences.forEach((sequence, number) => {
    numbers[number]!.forEach((row, position) => {
      rows[row] ??= { token: sequence.tokens[position]!, position, places: [] };
      if (position >= prefix) rows[row]!.places.push(number * length + position - prefix);
      if (sequence.mask[position + 1] === 1) actions.push(row);
    });
  });
  return { rows, actions, numbers };
}

/** [rows, routers]: the experts of ties, −1 elsewhere. Of rows that several sequences have, the first says. */
function tieTable(
  sequences: readonly TokenSequence[],
  numbers: readonly (readonly number[])[],
  rows: number,
  routers: readonly number[],
): BigInt64Array<ArrayBuffer> {
  const table = new BigInt64Array(rows * routers.length).fill(-1n);
  sequences.forEach(({ routerTies }, number) => {
    for (const { position, layer, expert } of tiesOf(routerTies)) {
      const row = numbers[number]![position];
      if (row === undefined) continue; // after its last action
      const at = row * routers.length + routers.indexOf(layer);
      if (table[at] === -1n) table[at] = BigInt(expert);
    }
  });
  return table;
}

/** Of the places of each row: those after the first. */
function copiesOf(places: readonly (readonly number[])[]): Pick<TokenBatch, "shared" | "copies" | "copied"> {
  const several = [...places.keys()].filter((row) => places[row]!.length > 1);
  const shared = several.length > 0 ? several : [0];
  const most = Math.max(1, ...shared.map((row) => places[row]!.length - 1));
  const others = shared.flatMap((row) => Array.from({ length: most }, (_, at) => places[row]![at + 1]));
  return {
    shared: BigInt64Array.from(shared, BigInt),
    copies: BigInt64Array.from(others, (place = 0) => BigInt(place)),
    copied: Float32Array.from(others, (place) => (place === undefined ? 0 : 1)),
  };
}

/** A batch under the names that the training models' inputs have; logits are divided by the temperature. */
export function batchFeeds(batch: TokenBatch, temperature = 1): Record<string, Tensor> {
  const rows = [batch.tokens.length];
  const own = rows[0]! - batch.prefix;
  const hasPrefix = batch.prefix > 0;
  const padded = [batch.batch, batch.length];
  const actions = [batch.actions.length];
  const shared = batch.shared.length;
  const copies = batch.copies.length / shared;
  return defined({
    tokens: { shape: rows, data: batch.tokens },
    positions: { shape: rows, data: batch.positions },
    index: { shape: padded, data: batch.index },
    places: { shape: [own], data: batch.places },
    prefixRows: hasPrefix ? { shape: [batch.prefix], data: numbersFrom(0, batch.prefix) } : undefined,
    ownRows: hasPrefix ? { shape: [own], data: numbersFrom(batch.prefix, own) } : undefined,
    present: { shape: padded, data: batch.present },
    shared: { shape: [shared], data: batch.shared },
    copies: { shape: [shared, copies], data: batch.copies },
    copied: { shape: [shared, 1, copies], data: batch.copied },
    ties: batch.ties && { shape: [rows[0]!, batch.ties.length / rows[0]!], data: batch.ties },
    actions: { shape: actions, data: batch.actions },
    targets: { shape: actions, data: batch.targets },
    inverseTemperature: { shape: [], data: Float32Array.of(1 / temperature) },
  });
}

function numbersFrom(start: number, count: number): BigInt64Array {
  return BigInt64Array.from({ length: count }, (_, at) => BigInt(start + at));
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
    const problem = problemOf(sequence, config) ?? tieProblem(sequence, config);
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

function tieProblem({ tokens, routerTies }: TokenSequence, config: ModelConfig): string | undefined {
  if (!routerTies) return undefined;
  const routers = routedLayers(config);
  const count = config.experts?.num_experts ?? 0;
  const isNumber = (value: number, end: number) => Number.isInteger(value) && value >= 0 && value < end;
  const strange = tiesOf(routerTies).find(
    ({ position, layer, expert }) =>
      !isNumber(position, tokens.length) || !routers.includes(layer) || !isNumber(expert, count),
  );
  if (!strange && routerTies.length % 3 === 0) return undefined;
  const tie = strange && `[${strange.position}, ${strange.layer}, ${strange.expert}]`;
  return `has router ties that are not a position, a layer with experts and an expert each: ${tie ?? routerTies.length}`;
}

function invalid(reason: string): EverturnError {
  return new EverturnError("TRAINING_BATCH_INVALID", { reason });
}
