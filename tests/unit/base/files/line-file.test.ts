import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lastLine, putLines, readLines } from "../../../../src/base/files/line-file.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const written = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

interface Line {
  step: number;
}
/** Puts the line of a step that is not there yet after the last one. */
async function put(path: string, step: number) {
  const { line, end } = (await lastLine<Line>(path)) ?? { line: { step: 0 }, end: 0 };
  if (line.step < step) await putLines(path, [JSON.stringify({ step })], end);
}

test("a line that a killed writer left torn is ignored by readers and written over by the next writer", async () => {
  const path = written("metrics.jsonl", '{"step":1,"name":"é"}\n{"step":2,"name":"a long one that is t');
  expect(await readLines(path)).toEqual([{ step: 1, name: "é" }]);
  await put(path, 2);
  await put(path, 3);
  expect(await readLines(path)).toEqual([{ step: 1, name: "é" }, { step: 2 }, { step: 3 }]);
});

test("writers of one line that race, and one that comes late, leave it once and in its place", async () => {
  const path = join(folder, "raced", "metrics.jsonl");
  await Promise.all(Array.from({ length: 8 }, () => put(path, 1)));
  await put(path, 2);
  await Promise.all(Array.from({ length: 8 }, () => put(path, 1)));
  expect(readFileSync(path, "utf8")).toBe('{"step":1}\n{"step":2}\n');
});

test("the last line is found behind long ones and before a torn one, and what a file of lines without one has is none", async () => {
  const long = JSON.stringify({ step: 2, text: "ü".repeat(40_000) });
  const path = written("long.jsonl", `{"step":1}\n${long}\n{"st`);
  expect(await lastLine(path)).toEqual({ line: JSON.parse(long), end: Buffer.byteLength(long) + 12 });
  for (const text of ["", "torn", "torn".repeat(10_000)]) {
    expect(await lastLine(written("without.jsonl", text))).toBeUndefined();
  }
  expect(await lastLine(join(folder, "nothing.jsonl"))).toBeUndefined();
});

test("a file of lines that is not there has none; a line in its middle that is torn is refused", async () => {
  expect(await readLines(join(folder, "nothing.jsonl"))).toEqual([]);
  const path = written("spoilt.jsonl", '{"step":1\n{"step":2}\n');
  await expect(readLines(path)).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
});
