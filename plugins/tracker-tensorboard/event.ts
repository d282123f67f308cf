/** The content of an event: the file's version, the run's settings as text, or numbers by name. */
export interface Event {
  /** Milliseconds since 1970. */
  at: number;
  step?: number;
  fileVersion?: string;
  /** Markdown, by name. */
  texts?: Record<string, string>;
  values?: Record<string, number>;
}

/**
 * Encodes an event for TensorBoard: `tensorflow.Event` of tensorflow/core/util/event.proto, as a protocol
 * buffer.
 */
export function encodeEvent({ at, step = 0, fileVersion, texts = {}, values = {} }: Event): Buffer {
  const numbers = Object.entries(values).map(([tag, value]) => message(1, text(1, tag), float(2, value)));
  const words = Object.entries(texts).map(([tag, value]) => {
    const metadata = message(9, message(1, text(1, "text")));
    const tensor = message(8, varints(1, 7), message(2, message(2, varints(1, 1))), text(8, value)); // a list with one text
    return message(1, text(1, tag), tensor, metadata);
  });
  return Buffer.concat([
    double(1, at / 1000),
    ...(step === 0 ? [] : [varints(2, step)]),
    ...(fileVersion === undefined ? [] : [text(3, fileVersion)]),
    ...(numbers.length + words.length === 0 ? [] : [message(5, ...numbers, ...words)]),
  ]);
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
