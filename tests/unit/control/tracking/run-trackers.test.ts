import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import type { EvaluationRecord } from "../../../../src/contracts/run.ts";
import { runTrackers } from "../../../../src/control/tracking/run-trackers.ts";
import { planRow } from "../../../../src/run/store/keys.ts";
import { makeRun } from "../../../support/made-run.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const log = join(folder, "told.jsonl");
const away = join(folder, "out-of-reach");

/** Writes what it is told, and throws while the file `out-of-reach` is there. */
const source = `import { appendFileSync, existsSync } from "node:fs";
const tell = (line) => {
  if (existsSync(${JSON.stringify(away)})) throw new Error("out of reach", { cause: new Error("no route") });
  appendFileSync(${JSON.stringify(log)}, JSON.stringify(line) + "\\n");
};
export default {
  open(config, { run, logged }) {
    tell({ open: run, logged });
    return { log: ({ number, step, values, tables }) => tell({ number, step, values, tables: Object.keys(tables ?? {}) }), close: (ending) => tell({ ending }) };
  },
};`;
const entry = join(folder, "tracker.ts");
writeFileSync(entry, source);

const told = () =>
  readFileSync(log, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

const plugin = {
  name: "tracker-test",
  version: "0.0.0",
  folder,
  entry,
  config: {},
  manifest: {
    name: "tracker-test",
    kind: "tracker" as const,
    version: "0.0.0",
    engines: { everturn: "*" },
    capabilities: { network: false, files: true, processes: false },
  },
};

async function madeRun(name: string) {
  const run = await makeRun(join(folder, name), { steps: 3, trajectories: 2, turns: 1, tokens: 8 });
  const plan = { ...run.plan, trackers: [plugin] };
  await run.store.record(planRow(2), plan);
  return { ...run, plan };
}

beforeEach(() => {
  rmSync(away, { force: true });
  writeFileSync(log, "");
});

const evaluation: EvaluationRecord = {
  name: "evaluation-v0003",
  step: 3,
  policyVersion: 3,
  accuracy: 0.5,
  tasks: 4,
  leftOut: 0,
  toolCallRate: 1,
  meanActionTokens: 7,
  seconds: 2,
};

test("a tracker is told each step and evaluation once, over several commands", async () => {
  const run = await madeRun("once");
  const first = await runTrackers(run, () => {});
  expect(await first.close("interrupted")).toBe(0);
  const second = await runTrackers(run, () => {});
  second.tellEvaluation(evaluation);
  second.tellEvaluation(evaluation);
  expect(await second.close("completed")).toBe(0);
  const lines = told();
  expect(lines.map(({ open, number, step, ending }) => open ?? ending ?? [number, step])).toEqual([
    "made",
    [0, 1],
    [1, 2],
    [2, 3],
    "interrupted",
    "made",
    [3, 3],
    "completed",
  ]);
  expect(lines.filter(({ open }) => open).map(({ logged }) => logged)).toEqual([0, 3]);
  expect(lines.slice(1, 4).map(({ tables }) => tables)).toEqual(Array(3).fill(["train/samples"]));
  expect(lines[1].values).toMatchObject({ "train/learningRate": 1e-4, "train/seconds/total": 3.1 });
  expect(lines[6].values).toEqual({
    "evaluation/policyVersion": 3,
    "evaluation/accuracy": 0.5,
    "evaluation/tasks": 4,
    "evaluation/leftOut": 0,
    "evaluation/toolCallRate": 1,
    "evaluation/meanActionTokens": 7,
    "evaluation/seconds": 2,
  });
});

test("one that is out of reach is named with its cause, and told what it missed when it is back", async () => {
  const run = await madeRun("away");
  writeFileSync(away, "");
  const notes: string[] = [];
  const trackers = await runTrackers(run, (text) => void notes.push(text));
  expect(await trackers.close("completed")).toBe(3);
  expect(notes).toEqual([
    "tracker tracker-test: out of reach (no route). The run continues without it, and Everturn tries again",
  ]);
  rmSync(away);
  const later = await runTrackers(run, (text) => void notes.push(text));
  expect(await later.close("completed")).toBe(0);
  expect(told().map(({ step }) => step)).toEqual([undefined, 1, 2, 3, undefined]);
});
