import type { TrackedHistogram } from "everturn/plugin";

/** Rows of Markdown texts, all of the same length. */
export type TextTable = readonly (readonly string[])[];

/** The content of an event: the file's version, texts, or the results of a step. */
export interface Event {
  /** Milliseconds since 1970. */
  at: number;
  step?: number;
  fileVersion?: string;
  /** Markdown, by name. */
  texts?: Record<string, string>;
  /** Texts in rows and columns, by name. */
  tables?: Record<string, TextTable>;
  values?: Record<string, number>;
  histograms?: Record<string, TrackedHistogram>;
}

/**
 * Encodes an event for TensorBoard: `tensorflow.Event` of tensorflow/core/util/event.proto, as a protocol
 * buffer.
 */
export function encodeEvent(event: Event): Buffer {
  const { at, step = 0, fileVersion, texts = {}, tables = {}, values = {}, histograms = {} } = event;
  const summary = [
    ...Object.entries(values).map(([tag, value]) => message(1, text(1, tag), float(2, value))),
    ...Object.entries(texts).map(([tag, value]) => textSummary(tag, [1], [value])),
    ...Object.entries(histograms).map(([tag, value]) => message(1, text(1, tag), histogram(value))),
    ...Object.entries(tables).map(([tag, rows]) =>
      textSummary(tag, [rows.length, rows[0]?.length ?? 0], rows.flat()),
    ),
  ];
  return Buffer.concat([
    double(1, at / 1000),
    ...(step === 0 ? [] : [varints(2, step)]),
    ...(fileVersion === undefined ? [] : [text(3, fileVersion)]),
    ...(summary.length === 0 ? [] : [message(5, ...summary)]),
  ]);
}

/** A tensor of texts, which TensorBoard shows as a list or as a table. */
function textSummary(tag: string, shape: readonly number[], texts: readonly string[]): Buffer {
  const metadata = message(9, message(1, text(1, "text")));
  const sizes = shape.map((size) => message(2, varints(1, size)));
  const tensor = message(8, varints(1, 7), message(2, ...sizes), ...texts.map((one) => text(8, one)));
  return message(1, text(1, tag), tensor, metadata);
}

/** `HistogramProto` of tensorflow/core/framework/summary.proto. A bucket ends at its limit. */
function histogram({ limits, counts, sum, sumOfSquares }: TrackedHistogram): Buffer {
  const total = counts.reduce((all, count) => all + count, 0);
  return message(
    5,
    double(1, limits[0] ?? 0),
    double(2, limits.at(-1) ?? 0),
    double(3, total),
    double(4, sum),
    double(5, sumOfSquares),
    doubles(6, limits.slice(1)),
    doubles(7, counts),
  );
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, rest]);
}

const key = (field: number, type: number) => varint(field * 8 + type);

function varints(field: number, value: number): Buffer {
  return Buffer.concat([key(field, 0), varint(value)]);
}

function double(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([key(field, 1), bytes]);
}

/** Packed, as proto3 and TensorFlow's own declaration have them. */
function doubles(field: number, values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length);
  for (const [index, value] of values.entries()) bytes.writeDoubleLE(value, 8 * index);
  return message(field, bytes);
}

function float(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([key(field, 5), bytes]);
}

function text(field: number, value: string): Buffer {
  return message(field, Buffer.from(value));
}

function message(field: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([key(field, 2), varint(body.length), body]);
}
