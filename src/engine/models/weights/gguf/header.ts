import { closeSync, fstatSync, openSync } from "node:fs";
import { elementCount } from "../../../onnx/element-count.ts";
import { type BlockType, blockTypeNames, blockTypes } from "./block-types.ts";
import { type Cursor, invalidGguf, openCursor, takeString, takeUint32, takeUint64 } from "./cursor.ts";
import { takeMetadata } from "./metadata.ts";
import type { GgufValue } from "./value-types.ts";

/** A tensor in a GGUF file. */
export interface GgufTensor {
  name: string;
  /** Row-major, as in Hugging Face's files. GGUF writes dimensions in reverse. */
  shape: number[];
  type: BlockType;
  /** Its byte offset in the whole file. */
  begin: number;
  end: number;
}

/** The header of a GGUF file. */
export interface GgufHeader {
  metadata: Map<string, GgufValue>;
  tensors: Map<string, GgufTensor>;
}

/** The default of general.alignment. */
export const defaultAlignment = 32;

/**
 * Reads the header of a GGUF file of version 2 or 3 (github.com/ggml-org/ggml, docs/gguf.md), and checks that every
 * tensor is inside the file. Throws GGUF_INVALID.
 */
export function readGgufHeader(path: string): GgufHeader {
  const descriptor = openSync(path, "r");
  try {
    return takeHeader(openCursor(path, descriptor, fstatSync(descriptor).size));
  } finally {
    closeSync(descriptor);
  }
}

function takeHeader(cursor: Cursor): GgufHeader {
  const { path } = cursor;
  if (cursor.take(4, "the magic number").toString("latin1") !== "GGUF") {
    throw invalidGguf(path, "it does not begin with “GGUF”");
  }
  const version = takeUint32(cursor, "the version");
  if (version !== 2 && version !== 3) {
    throw invalidGguf(path, (version & 0xffff) === 0 ? "it is big-endian" : `its version is ${version}`);
  }
  const tensorCount = takeUint64(cursor, "the number of tensors");
  const metadata = takeMetadata(cursor, takeUint64(cursor, "the number of keys"));
  const found: GgufTensor[] = [];
  for (let at = 0; at < tensorCount; at++) found.push(takeTensor(cursor, at, tensorCount));
  const start = dataStart(cursor, metadata.get("general.alignment") ?? defaultAlignment);
  const tensors = new Map<string, GgufTensor>();
  for (const { begin, end, ...tensor } of found) {
    const { name } = tensor;
    if (tensors.has(name)) throw invalidGguf(path, `two tensors are named ${name}`);
    if (start + end > cursor.size) {
      throw invalidGguf(
        path,
        `the tensor ${name} ends at byte ${start + end}, but the file at ${cursor.size}`,
      );
    }
    tensors.set(name, { ...tensor, begin: start + begin, end: start + end });
  }
  checkApart(path, [...tensors.values()]);
  return { metadata, tensors };
}

/** Throws GGUF_INVALID if tensors overlap. They may have gaps for alignment. */
function checkApart(path: string, tensors: GgufTensor[]): void {
  let filled = 0;
  for (const { name, begin, end } of tensors.sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin < filled) throw invalidGguf(path, `the tensor ${name} overlaps the tensor before it`);
    filled = end;
  }
}

/** Reads a tensor whose offset is relative to the data section. That section's position is not known yet. */
function takeTensor(cursor: Cursor, at: number, count: number): GgufTensor {
  const name = takeString(cursor, `the name of tensor ${at + 1} of ${count}`);
  const what = `the entry of tensor ${name}`;
  const dimensions = takeUint32(cursor, what);
  if (dimensions > 4) throw invalidGguf(cursor.path, `the tensor ${name} has ${dimensions} dimensions`);
  const shape = Array.from({ length: dimensions }, () => takeUint64(cursor, what)).reverse();
  const typeNumber = takeUint32(cursor, what);
  const begin = takeUint64(cursor, what);
  const type = blockTypes.get(typeNumber);
  if (type === undefined) {
    const reason = `the tensor ${name} is of the type ${typeNumber}; only ${blockTypeNames} can be read`;
    throw invalidGguf(cursor.path, reason);
  }
  const row = shape.at(-1) ?? 1;
  if (row % type.values !== 0) {
    throw invalidGguf(
      cursor.path,
      `${type.name} needs rows of ${type.values} values, but ${name} has ${row}`,
    );
  }
  const values = elementCount(shape);
  return { name, shape, type, begin, end: begin + (values / type.values) * type.bytes };
}

function dataStart(cursor: Cursor, alignment: GgufValue): number {
  if (typeof alignment !== "number" || !Number.isInteger(alignment) || alignment < 1) {
    throw invalidGguf(cursor.path, `general.alignment is ${JSON.stringify(alignment)}`);
  }
  return Math.ceil(cursor.position() / alignment) * alignment;
}
