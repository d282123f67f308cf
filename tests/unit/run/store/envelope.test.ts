import { expect, test } from "vitest";
import { decodeRecord, encodeRecord } from "../../../../src/run/store/envelope.ts";

const value = { action: "é 🙂", tokens: [1, 2, 3], logprobs: [-0.1234567890123] };

test("a record is JSON, and comes back as it was", () => {
  const content = encodeRecord(value);
  expect(decodeRecord(content)).toEqual({ value });
  expect(JSON.parse(Buffer.from(content).toString())).toMatchObject({ value });
});

test("a record that was cut, wherever, or changed in any byte is none", () => {
  const content = encodeRecord(value);
  for (let at = 0; at < content.length; at++) {
    expect(decodeRecord(content.subarray(0, at)), `cut at ${at}`).toHaveProperty("reason");
    const changed = Buffer.from(content);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(decodeRecord(changed), `changed at ${at}`).toHaveProperty("reason");
  }
});
