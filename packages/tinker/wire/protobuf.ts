import { badAnswer } from "../http/json.ts";

/** A protobuf message that is being written. Fields are numbered as in Tinker's `tinker_public.proto`. */
export class MessageWriter {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds an integer from 0 to 2⁵³, an enum or a boolean. */
  integer(field: number, value: number): this {
    return this.#add(varint(field * 8)).#add(varint(value));
  }

  double(field: number, value: number): this {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value, true);
    return this.#add(varint(field * 8 + 1)).#add(bytes);
  }

  bytes(field: number, value: Uint8Array): this {
    return this.#add(varint(field * 8 + 2))
      .#add(varint(value.length))
      .#add(value);
  }

  text(field: number, value: string): this {
    return this.bytes(field, new TextEncoder().encode(value));
  }

  /** Adds integers in packed form. */
  integers(field: number, values: readonly number[]): this {
    const packed = new MessageWriter();
    for (const value of values) packed.#add(varint(value));
    return this.message(field, packed);
  }

  message(field: number, message: MessageWriter): this {
    this.#add(varint(field * 8 + 2)).#add(varint(message.#length));
    for (const part of message.#parts) this.#add(part);
    return this;
  }

  /** The encoded message. */
  finish(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  #add(part: Uint8Array): this {
    this.#parts.push(part);
    this.#length += part.length;
    return this;
  }
}

type Value = bigint | number | Uint8Array;

/** A received protobuf message. Unknown fields are ignored. Its constructor throws `bad-answer` if the bytes are not a message. */
export class MessageReader {
  readonly #fields = new Map<number, Value[]>();

  constructor(bytes: Uint8Array) {
    let at = 0;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const readVarint = (): bigint => {
      let value = 0n;
      for (let shift = 0n; shift < 70n; shift += 7n) {
        const byte = bytes[at];
        if (byte === undefined) throw badAnswer("the protobuf message ends in the middle of a field");
        at += 1;
        value |= BigInt(byte & 127) << shift;
        if (byte < 128) return BigInt.asUintN(64, value);
      }
      throw badAnswer("the protobuf message contains an integer of more than 64 bits");
    };
    const take = (length: number): number => {
      if (at + length > bytes.length) throw badAnswer("the protobuf message ends in the middle of a field");
      at += length;
      return at - length;
    };
    const readValue = (type: number): Value => {
      if (type === 0) return readVarint();
      if (type === 1) return view.getFloat64(take(8), true);
      if (type === 5) return view.getFloat32(take(4), true);
      if (type !== 2) throw badAnswer(`the protobuf message has a field of wire type ${type}`);
      const length = Number(readVarint());
      const start = take(length);
      return bytes.subarray(start, start + length);
    };
    while (at < bytes.length) {
      const tag = Number(readVarint());
      const field = Math.floor(tag / 8);
      if (field === 0) throw badAnswer("the protobuf message has a field with number 0");
      const values = this.#fields.get(field) ?? [];
      values.push(readValue(tag % 8));
      this.#fields.set(field, values);
    }
  }

  has(field: number): boolean {
    return this.#fields.has(field);
  }

  /** An integer, 0 if it is missing. */
  integer(field: number): number {
    const value = this.#fields.get(field)?.at(-1) ?? 0n;
    if (typeof value !== "bigint") throw badAnswer(`field ${field} of a protobuf message is not an integer`);
    return Number(BigInt.asIntN(64, value));
  }

  /** A double, 0 if it is missing. */
  double(field: number): number {
    const value = this.#fields.get(field)?.at(-1) ?? 0;
    if (typeof value !== "number") throw badAnswer(`field ${field} of a protobuf message is not a double`);
    return value;
  }

  /** The bytes of a field, a view of the message; empty if it is missing. */
  bytes(field: number): Uint8Array {
    return this.#byteFields(field).at(-1) ?? new Uint8Array();
  }

  text(field: number): string {
    return new TextDecoder().decode(this.bytes(field));
  }

  /** The messages of a field, in order. */
  messages(field: number): MessageReader[] {
    return this.#byteFields(field).map((bytes) => new MessageReader(bytes));
  }

  /** A message, empty if it is missing. */
  message(field: number): MessageReader {
    return new MessageReader(this.bytes(field));
  }

  /** Repeated integers, packed or not. */
  integers(field: number): number[] {
    return (this.#fields.get(field) ?? []).flatMap((value) => {
      if (typeof value === "bigint") return [Number(BigInt.asIntN(64, value))];
      if (typeof value === "number")
        throw badAnswer(`field ${field} of a protobuf message is not an integer`);
      return unpacked(value);
    });
  }

  #byteFields(field: number): Uint8Array[] {
    return (this.#fields.get(field) ?? []).map((value) => {
      if (value instanceof Uint8Array) return value;
      throw badAnswer(`field ${field} of a protobuf message has no bytes`);
    });
  }
}

function unpacked(bytes: Uint8Array): number[] {
  const values: number[] = [];
  let value = 0n;
  let shift = 0n;
  for (const byte of bytes) {
    value |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte >= 128) continue;
    values.push(Number(BigInt.asIntN(64, value)));
    value = 0n;
    shift = 0n;
  }
  if (shift !== 0n) throw badAnswer("a list of integers in a protobuf message is incomplete");
  return values;
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
