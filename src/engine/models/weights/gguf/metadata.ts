import { type Cursor, invalidGguf, safeNumber, takeString, takeUint32, takeUint64 } from "./cursor.ts";
import { type GgufValue, valueTypes } from "./value-types.ts";

const deepestArray = 4;

/** Reads `count` keys and values. Throws GGUF_INVALID. */
export function takeMetadata(cursor: Cursor, count: number): Map<string, GgufValue> {
  const metadata = new Map<string, GgufValue>();
  for (let at = 0; at < count; at++) {
    const key = takeString(cursor, `key ${at + 1} of ${count}`);
    const type = takeUint32(cursor, `the type of ${key}`);
    metadata.set(key, takeValue(cursor, type, key, 0));
  }
  return metadata;
}

function takeValue(cursor: Cursor, type: number, key: string, depth: number): GgufValue {
  const what = `the value of ${key}`;
  switch (type) {
    case valueTypes.uint8:
      return cursor.take(1, what).readUInt8();
    case valueTypes.int8:
      return cursor.take(1, what).readInt8();
    case valueTypes.uint16:
      return cursor.take(2, what).readUInt16LE();
    case valueTypes.int16:
      return cursor.take(2, what).readInt16LE();
    case valueTypes.uint32:
      return takeUint32(cursor, what);
    case valueTypes.int32:
      return cursor.take(4, what).readInt32LE();
    case valueTypes.float32:
      return cursor.take(4, what).readFloatLE();
    case valueTypes.bool:
      return cursor.take(1, what).readUInt8() !== 0;
    case valueTypes.string:
      return takeString(cursor, what);
    case valueTypes.uint64:
      return takeUint64(cursor, what);
    case valueTypes.int64:
      return safeNumber(cursor, cursor.take(8, what).readBigInt64LE(), what);
    case valueTypes.float64:
      return cursor.take(8, what).readDoubleLE();
    case valueTypes.array:
      return takeArray(cursor, key, depth);
    default:
      throw invalidGguf(cursor.path, `${key} has a value of the unknown type ${type}`);
  }
}

function takeArray(cursor: Cursor, key: string, depth: number): GgufValue[] {
  if (depth === deepestArray) throw invalidGguf(cursor.path, `the arrays in ${key} are nested too deep`);
  const type = takeUint32(cursor, `the type of ${key}`);
  const length = takeUint64(cursor, `the length of ${key}`);
  if (length > cursor.size - cursor.position()) {
    throw invalidGguf(cursor.path, `${key} has ${length} values, more than bytes follow`);
  }
  return Array.from({ length }, () => takeValue(cursor, type, key, depth + 1));
}
