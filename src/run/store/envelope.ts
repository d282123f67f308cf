import { hash } from "node:crypto";

/** The text before a record's JSON. Its digest is at a fixed place, so that truncation and changes are detected. */
const head = '{"sha256":"';
const middle = '","value":';
const tail = "}\n";
const start = head.length + 64 + middle.length;

/** A record's bytes: JSON with the value and its digest. */
export function encodeRecord(value: unknown): Uint8Array {
  const json = JSON.stringify(value);
  return Buffer.from(`${head}${hash("sha256", json)}${middle}${json}${tail}`);
}

/** The value in a record's bytes, or the reason why they are not a record. */
export function decodeRecord<Value>(content: Uint8Array): { value: Value } | { reason: string } {
  const found = recordJson(content);
  return "reason" in found ? found : { value: JSON.parse(found.json.toString()) };
}

/** The JSON in a record's bytes, if it matches its digest, or the reason why they are not a record. */
export function recordJson(content: Uint8Array): { json: Buffer } | { reason: string } {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const isFramed =
    bytes.length > start + tail.length &&
    bytes.toString("latin1", 0, head.length) === head &&
    bytes.toString("latin1", start - middle.length, start) === middle &&
    bytes.toString("latin1", bytes.length - tail.length) === tail;
  if (!isFramed) return { reason: content.length === 0 ? "it is empty" : "it is cut, or not a record" };
  const json = bytes.subarray(start, bytes.length - tail.length);
  const digest = bytes.toString("latin1", head.length, head.length + 64);
  if (hash("sha256", json) !== digest) return { reason: "its content is not what its digest says" };
  return { json };
}
