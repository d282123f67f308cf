import { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import type { ImageEmbeddings } from "../../contracts/image-tokens.ts";
import { type RouterTies, tiesOf } from "../../contracts/router-ties.ts";
import { contextLength, type ModelConfig } from "../models/config/model-config.ts";
import { multimodalPositions } from "../models/config/token-positions.ts";
import { rotarySections, unwrittenToken } from "../models/config/vision-config.ts";
import { routedLayers } from "../models/graph/expert-choice.ts";
import { rotationsAt } from "../models/graph/multimodal-rotary.ts";
import type { Tensor } from "../onnx/model-session.ts";

/** Token ids, and a mask that is 1 for tokens that the policy wrote and 0 elsewhere. */
export interface TokenSequence {
  readonly tokens: readonly number[];
  readonly mask: readonly number[];
  /** For a mixture of experts: routing ties during sampling. Default: none. */
  readonly routerTies?: RouterTies;
  /** For ids from the size of the vocabulary on, which are those of image tokens. Default: none. */
  readonly embeddings?: ImageEmbeddings;
}

/**
 * Sequences in the layout of a model: one row per token, sequence after sequence, without padding. Only attention pads
 * them, to [batch, length]. Sequences share the rows of a common beginning, up to their trained tokens.
 */
export interface TokenBatch {
  readonly batch: number;
  /**
   * The number of tokens at the start of all sequences that attention processes once. They are the first rows. 0 if it
   * processes sequences whole.
   */
  readonly prefix: number;
  /** The number of tokens of the longest sequence after the prefix, possibly rounded up. */
  readonly length: number;
  /** [rows]. */
  readonly tokens: BigInt64Array;
  /** [rows]: each token's position in its sequence, or its row in the rotations. */
  readonly positions: BigInt64Array;
  /** The cosines and sines of rows that rotate by three axes, each [rows, half]. Absent for other models. */
  readonly rotations?: Record<"rotaryCosines" | "rotarySines", Tensor>;
  /** [batch, length]: the row after the prefix at each place; the first row for padding. */
  readonly index: BigInt64Array;
  /** For each row after the prefix: the first of its places in [batch · length]. */
  readonly places: BigInt64Array;
  /** [batch, length]: 1 at those places. */
  readonly present: Float32Array;
  /** Rows with more than one place. At least one row, even if none has. */
  readonly shared: BigInt64Array;
  /** [shared, copies]: their other places. */
  readonly copies: BigInt64Array;
  /** [shared, 1, copies]: 1 for existing places. */
  readonly copied: Float32Array;
  /** [rows, routers]: experts of ties, −1 without one. Absent without routers. */
  readonly ties?: BigInt64Array;
  /** [rows]: the row's number in `images`, −1 for text. Absent for models that read only text, like `images`. */
  readonly imageNumbers?: BigInt64Array;
  /** [image tokens, hidden], at least one row. */
  readonly images?: Tensor;
  /** The id of each row of `images`. Empty if there are no image tokens. */
  readonly imageIds: readonly number[];
  /** For each action token in order: the row that predicts it, which is the previous token's. */
  readonly actions: BigInt64Array;
  /** For each action token in order: its id. */
  readonly targets: BigInt64Array;
}

/**
 * Joins sequences into one batch, padded to a multiple of `multiple`. Drops tokens after the last action token, which
 * the loss does not depend on. Keeps the first `prefix` tokens, at most `commonPrefix`, separate. Throws
 * TRAINING_BATCH_INVALID for a sequence that is too long, whose mask has another length or marks the first token
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
  const sections = rotarySections(config);
  const images = config.vision ? imagesOf(rows, sequences, config) : undefined;
  const isText = ({ token }: TokenRow) => token < config.vocab_size;
  return defined({
    batch: sequences.length,
    prefix,
    length,
    index,
    present,
    ...copiesOf(own.map(({ places }) => places)),
    imageNumbers: images?.imageNumbers,
    images: images?.images,
    imageIds: images?.imageIds ?? [],
    tokens: BigInt64Array.from(rows, (row) => BigInt(isText(row) ? row.token : 0)),
    positions: BigInt64Array.from(rows, ({ position }, row) => BigInt(sections ? row : position)),
    rotations: sections && rotationsOf(rows, sequences, config),
    places: BigInt64Array.from(own, ({ places }) => BigInt(places[0]!)),
    ties: routers.length > 0 ? tieTable(sequences, numbers, rows.length, routers) : undefined,
    actions: BigInt64Array.from(actions, BigInt),
    targets: BigInt64Array.from(targets),
  });
}

/** A token of one sequence, or of several with the same beginning. */
interface TokenRow {
  token: number;
  /** The number of the first sequence with it. */
  sequence: number;
  position: number;
  /** In [batch · length]. */
  places: number[];
}

/**
 * Assigns numbers to the rows of sequences. Sequences share the rows of a common beginning, up to their trained tokens.
 */
export interface RowNumbers {
  /** Returns the row of each token of a sequence that the loss depends on. */
  add(sequence: TokenSequence): number[];
  /** The number of rows so far. */
  count(): number;
}

/** A number larger than any id, including those of image tokens. */
const manyTokens = 2 ** 31;

/** Creates row numbers that begin at zero. */
export function createRowNumbers(): RowNumbers {
  /** Shareable rows, by the previous row and the token. */
  const known = new Map<number, number>();
  /** The tokens of the sequence before, and its shareable rows. Most sequences begin like it. */
  let before: { tokens: readonly number[]; rows: readonly number[] } = { tokens: [], rows: [] };
  let count = 0;
  return {
    add(sequence) {
      const { tokens } = sequence;
      const ownFrom = shareableLength(sequence);
      const length = lossLength(sequence);
      const alike = Math.min(before.rows.length, ownFrom, length);
      const rows: number[] = [];
      let row = -1;
      while (rows.length < alike && tokens[rows.length] === before.tokens[rows.length]) {
        row = before.rows[rows.length]!;
        rows.push(row);
      }
      for (let position = rows.length; position < length; position++) {
        const key = (row + 1) * manyTokens + tokens[position]!;
        row = (position < ownFrom ? known.get(key) : undefined) ?? count++;
        if (position < ownFrom) known.set(key, row);
        rows.push(row);
      }
      before = { tokens, rows: rows.slice(0, ownFrom) };
      return rows;
    },
    count: () => count,
  };
}

/**
 * Returns the number of tokens that a sequence may share: those before the one that predicts its first action token.
 */
function shareableLength({ mask }: TokenSequence): number {
  return Math.max(0, mask.indexOf(1) - 1);
}

/**
 * Returns the length that attention pads sequences to: that of the longest after a prefix, rounded up to a multiple.
 */
export function paddedLength(sequences: readonly TokenSequence[], multiple: number, prefix: number): number {
  return multiple * Math.ceil((Math.max(1, ...sequences.map(lossLength)) - prefix) / multiple);
}

/** Returns the number of tokens at the start of all sequences that share their rows. */
export function commonPrefix(sequences: readonly TokenSequence[]): number {
  const numbers = createRowNumbers();
  const shared = sequences.map((sequence) => {
    const other = numbers.add(sequence).findIndex((row, position) => row !== position);
    const own = shareableLength(sequence);
    return other < 0 ? own : Math.min(own, other);
  });
  return Math.min(...shared);
}

/**
 * Returns the rows of sequences padded to a length after a prefix, the rows that predict actions, and the row numbers
 * by sequence.
 */
export function rowsOf(sequences: readonly TokenSequence[], length: number, prefix = 0) {
  const rows: TokenRow[] = [];
  const actions: number[] = [];
  const { add } = createRowNumbers();
  const numbers = sequences.map(add);
  sequences.forEach((sequence, number) => {
    numbers[number]!.forEach((row, position) => {
      rows[row] ??= { token: sequence.tokens[position]!, sequence: number, position, places: [] };
      if (position >= prefix) rows[row]!.places.push(number * length + position - prefix);
      if (sequence.mask[position + 1] === 1) actions.push(row);
    });
  });
  return { rows, actions, numbers };
}

/** Returns [rows, routers]: the experts of ties, −1 elsewhere. A shared row takes the ties of its first sequence. */
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

/** Returns the rotations of rows by three axes. */
function rotationsOf(rows: readonly TokenRow[], sequences: readonly TokenSequence[], config: ModelConfig) {
  const positions = sequences.map(
    ({ tokens, embeddings }) => multimodalPositions(tokens, config.vocab_size, embeddings).positions,
  );
  return rotationsAt(
    config,
    rows.map(({ sequence, position }) => positions[sequence]![position]!),
  );
}

/** Returns the embeddings of the image tokens among rows. Equal ids share one. */
function imagesOf(
  rows: readonly TokenRow[],
  sequences: readonly TokenSequence[],
  { vocab_size: vocabulary, hidden_size: width }: ModelConfig,
): Required<Pick<TokenBatch, "imageNumbers" | "images" | "imageIds">> {
  const numbers = new Map<number, number>();
  for (const { token } of rows)
    if (token >= vocabulary && !numbers.has(token)) numbers.set(token, numbers.size);
  const count = Math.max(1, numbers.size);
  const data = new Float32Array(count * width);
  for (const [token, number] of numbers) {
    const source = sequences.find((sequence) => sequence.embeddings?.has(token))!.embeddings!;
    data.set(source.embedding(token), number * width);
  }
  const imageNumbers = BigInt64Array.from(rows, ({ token }) => BigInt(numbers.get(token) ?? -1));
  return { imageNumbers, images: { shape: [count, width], data }, imageIds: [...numbers.keys()] };
}

/** Returns all places of each row but the first. */
function copiesOf(places: readonly (readonly number[])[]): Pick<TokenBatch, "shared" | "copies" | "copied"> {
  const several = [...places.keys()].filter((row) => places[row]!.length > 1);
  const shared = several.length > 0 ? several : [0];
  const most = Math.max(1, ...shared.map((row) => places[row]!.length - 1));
  const copies = new BigInt64Array(shared.length * most);
  const copied = new Float32Array(shared.length * most);
  for (const [number, row] of shared.entries()) {
    const others = places[row]!.slice(1);
    const start = number * most;
    copies.set(others.map(BigInt), start);
    copied.fill(1, start, start + others.length);
  }
  return { shared: BigInt64Array.from(shared, BigInt), copies, copied };
}

/** Returns a batch as inputs of the training models. Logits are divided by the temperature. */
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
    imageNumbers: batch.imageNumbers && { shape: rows, data: batch.imageNumbers },
    images: batch.images,
    rotaryCosines: batch.rotations?.rotaryCosines,
    rotarySines: batch.rotations?.rotarySines,
    ties: batch.ties && { shape: [rows[0]!, batch.ties.length / rows[0]!], data: batch.ties },
    actions: { shape: actions, data: batch.actions },
    targets: { shape: actions, data: batch.targets },
    inverseTemperature: { shape: [], data: Float32Array.of(1 / temperature) },
  });
}

function numbersFrom(start: number, count: number): BigInt64Array {
  return BigInt64Array.from({ length: count }, (_, at) => BigInt(start + at));
}

/** Returns the number of tokens that the loss depends on: those before the last action token. */
export function lossLength({ mask }: TokenSequence): number {
  return Math.max(1, mask.lastIndexOf(1));
}

/** Returns the positions of a sequence's action tokens. */
export function actionPositions({ mask }: TokenSequence): number[] {
  return mask.flatMap((marked, at) => (marked === 1 ? [at] : []));
}

/** Throws TRAINING_BATCH_INVALID with the number of a sequence that can't be batched. */
export function checkSequences(sequences: readonly TokenSequence[], config: ModelConfig): void {
  for (const [index, sequence] of sequences.entries()) {
    const problem = problemOf(sequence, config) ?? tieProblem(sequence, config);
    if (problem) throw invalid(`sequence ${index} ${problem}`);
  }
}

function problemOf({ tokens, mask, embeddings }: TokenSequence, config: ModelConfig): string | undefined {
  if (tokens.length !== mask.length) return `has ${tokens.length} tokens, but a mask of ${mask.length}`;
  if (tokens.length === 0) return "is empty";
  const positions = contextLength(config);
  if (tokens.length > positions) return `has ${tokens.length} tokens, more than the model's ${positions}`;
  const isKnown = (token: number) => token < config.vocab_size || embeddings?.has(token);
  const strange = tokens.find((token) => !Number.isInteger(token) || token < 0 || !isKnown(token));
  if (strange !== undefined) return `holds the id ${strange}, outside the vocabulary of ${config.vocab_size}`;
  const unwritten = unwrittenToken(config);
  if (tokens.some((token, at) => token === unwritten && mask[at] === 1))
    return `marks the image token ${unwritten}, which no policy writes`;
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
