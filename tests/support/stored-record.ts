import { readFileSync, writeFileSync } from "node:fs";
import { decodeRecord, encodeRecord } from "../../src/run/store/envelope.ts";

/** What a record of a run's folder holds. Throws if it can't be read. */
export function storedRecord<Value>(file: string): Value {
  const decoded = decodeRecord<Value>(readFileSync(file));
  if ("reason" in decoded) throw new Error(`${file}: ${decoded.reason}`);
  return decoded.value;
}

/** Puts another record in the place of one, as nobody does but who breaks a run. */
export function changeRecord<Value>(file: string, how: (value: Value) => Value): void {
  writeFileSync(file, encodeRecord(how(storedRecord(file))));
}
