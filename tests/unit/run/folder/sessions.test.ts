import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readLines } from "../../../../src/base/files/line-file.ts";
import { beginSession, endSession, readStops } from "../../../../src/run/folder/sessions.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const sessions = join(temporaryFolder(), "sessions.jsonl");

test("a run without sessions, as of an earlier release, was never stopped", async () => {
  expect((await readStops({ sessions }))(0, Date.now())).toBe(0);
  await endSession({ sessions }, 5); // nothing had begun
  expect(await readLines(sessions)).toEqual([]);
});

test("a session begins once and ends once, never before it began", async () => {
  const before = Date.now();
  await beginSession({ sessions });
  await endSession({ sessions }, 1);
  await endSession({ sessions }, Date.now() + 1000);
  const [first, second, ...others] = await readLines<{ begin?: number; end?: number }>(sessions);
  expect(first?.begin).toBeGreaterThanOrEqual(before);
  expect(second).toEqual({ end: first?.begin });
  expect(others).toEqual([]);
});

test("only the parts of stops between two times count", async () => {
  const lines = [{ begin: 0 }, { end: 100 }, { begin: 150 }, { end: 200 }, { begin: 300 }, { end: 400 }];
  writeFileSync(sessions, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const stopped = await readStops({ sessions });
  expect(stopped(0, 100)).toBe(0);
  expect(stopped(50, 250)).toBe(100);
  expect(stopped(120, 130)).toBe(10);
  expect(stopped(0, 1000), "the last stop has no end yet").toBe(150);
});
