import { appendFileSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import type { ToolHostLine } from "../../../../src/contracts/tool-host-change.ts";
import { hostPauses, readHostLines } from "../../../../src/run/folder/host-pauses.ts";
import { runFolder } from "../../../../src/run/folder/run-folder.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const paused = (time: number, host = "search"): ToolHostLine => ({
  at: at(time),
  host,
  state: "paused",
  reason: "503",
  seconds: 0,
});
const resumed = (time: number, seconds: number, host = "search"): ToolHostLine => ({
  at: at(time),
  host,
  state: "resumed",
  reason: "",
  seconds,
});

test("a host's pauses count as far as they are between two times", () => {
  const lines = [
    paused(5),
    resumed(15, 10),
    paused(20, "judge"),
    resumed(22, 2, "judge"),
    paused(40),
    resumed(50, 10),
  ];
  expect(hostPauses(lines, 10_000, 45_000)).toEqual({ search: 10, judge: 2 });
  expect(hostPauses(lines, 16_000, 19_000)).toEqual({});
});

test("pauses of several workers at the same time count once", () => {
  const lines = [paused(10), paused(12), resumed(18, 8), resumed(20, 8)];
  expect(hostPauses(lines, 0, 60_000)).toEqual({ search: 10 });
});

test("a pause that lasts counts until the end, but not in later steps, because its worker may be gone", () => {
  const lines = [paused(10), { ...paused(40), state: "down" as const, seconds: 30 }];
  expect(hostPauses(lines, 0, 60_000)).toEqual({ search: 50 });
  expect(hostPauses(lines, 60_000, 90_000)).toEqual({});
});

test("a torn line of a killed worker is left out", async () => {
  const folder = runFolder(temporaryFolder(), "run");
  expect(await readHostLines(folder)).toEqual([]);
  mkdirSync(dirname(folder.hosts), { recursive: true });
  appendFileSync(folder.hosts, `{"at":"2026-${JSON.stringify(paused(1))}\n${JSON.stringify(paused(2))}\n`);
  expect(await readHostLines(folder)).toEqual([paused(2)]);
});
