import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { check } from "../chaos/check.ts";
import { markName } from "../chaos/marked-processes.ts";
import { type Strike, unrecovered } from "../chaos/recovery.ts";
import { type ChaosReport, chaos } from "../chaos/run-chaos.ts";
import { scenarios, shareOut } from "../chaos/scenarios.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const strikes = Number(process.env.EVERTURN_STRIKES ?? 20);
/** One with every process apart and twice, one as `npm start` runs. */
const names = ["two workers", "default layout"];
const mark = randomUUID();
const folder = temporaryFolder();
const work = join(folder, "work");
const strays: ChildProcess[] = [];
const notes: string[] = [];
let report: ChaosReport;

beforeAll(async () => {
  mkdirSync(work);
  const chosen = scenarios.filter(({ name }) => names.includes(name));
  report = await chaos({
    store: "folder",
    work,
    mark,
    strikes,
    scenarios: chosen,
    seed: 5,
    note: (text) => notes.push(text),
  });
}, 600_000);
afterAll(() => {
  for (const stray of strays) stray.kill("SIGKILL");
});

/** A copy of what the first scenario left, changed by `tamper`, and what the checker finds in it. */
function findingsOf(tamper: (copy: string) => void) {
  const copy = join(folder, randomUUID());
  cpSync(join(work, "two-workers"), copy, {
    recursive: true,
    preserveTimestamps: true,
    filter: (path) => !path.endsWith(".db"),
  });
  tamper(copy);
  return check(copy, mark);
}

/** A file of the killed run in `copy` whose path ends as `pattern` says. */
function fileIn(copy: string, pattern: RegExp): string {
  const root = join(copy, "runs");
  const names = readdirSync(root, { recursive: true, encoding: "utf8" }).sort();
  const name = names.find((one) => pattern.test(one));
  if (name === undefined) throw new Error(`no file of ${root} is like ${pattern}`);
  return join(root, name);
}

test("runs that are killed and stopped at random moments lose nothing, and end as those left alone", () => {
  const { counts, different, findings } = report;
  expect(findings).toMatchObject({
    lostTrajectories: [],
    lostTurns: [],
    toolCallsTwice: [],
    unrecordedCalls: [],
    trainedTwice: [],
    orphans: [],
  });
  expect(different).toEqual([]);
  expect(counts.kills + counts.stops).toBe(strikes);
  expect(counts.kills).toBeGreaterThan(0);
  expect(counts.stops).toBeGreaterThan(0);
  expect(counts.unrecovered, [...notes, report.text].join("\n")).toBe(0);
  expect(findings.seen.turns).toBeGreaterThan(5 * 8 * 3);
  expect(report.isClean).toBe(true);
});

test("the checker counts a turn whose tokens were changed", () => {
  const changed = findingsOf((copy) => {
    const file = fileIn(copy, /step-0002\/[^/]+\/0\/turn-1\.json$/);
    writeFileSync(file, readFileSync(file, "utf8").replace(/"tokens":\[\d+/, "$&1"));
  });
  expect(changed.lostTurns.join("\n")).toContain("is not what its digest says");
  expect(changed.lostTurns.join("\n")).toMatch(/segment [0-9a-f]+ is missing/);
});

test("the checker counts a turn that is gone, and one that says something else than before", () => {
  const gone = findingsOf((copy) => rmSync(fileIn(copy, /step-0002\/[^/]+\/0\/turn-2\.json$/)));
  expect(gone.lostTurns.join("\n")).toContain("was there at a strike and is gone");
  const other = findingsOf((copy) => appendFileSync(fileIn(copy, /step-0002\/[^/]+\/0\/turn-2\.json$/), " "));
  expect(other.lostTurns.join("\n")).toContain("was another at a strike");
});

test("the checker counts a trajectory without a record", () => {
  const { lostTrajectories } = findingsOf((copy) => rmSync(fileIn(copy, /step-0003\/.*\/trajectory\.json$/)));
  expect(lostTrajectories.length).toBeGreaterThan(0);
});

test("the checker counts a tool call that ran again after its result was recorded, and a turn that was generated again", () => {
  const again = (file: string, extra: object) => (copy: string) => {
    const [line = "{}"] = readFileSync(join(copy, file), "utf8").split("\n");
    appendFileSync(join(copy, file), `${JSON.stringify({ ...JSON.parse(line), ...extra })}\n`);
  };
  const later = { time: Date.now() + 60_000 };
  expect(findingsOf(again("calls.jsonl", later)).toolCallsTwice).toHaveLength(1);
  const generated = findingsOf(again("generations.jsonl", { ...later, event: "start" }));
  expect(generated.lostTurns).toHaveLength(1);
});

test("the checker counts a call that ran and left no record, but for what was left out", () => {
  const call = /step-0002\/[^/]+\/0\/turn-2-call-1\.json$/;
  const gone = findingsOf((copy) => rmSync(fileIn(copy, call)));
  expect(gone.unrecordedCalls).toHaveLength(1);
  const leftOut = findingsOf((copy) => {
    const file = fileIn(copy, call);
    rmSync(file);
    renameSync(join(file, "..", "trajectory.json"), join(file, "..", "left-out-1.json"));
  });
  expect(leftOut.unrecordedCalls).toEqual([]);
});

test("strikes are shared out among scenarios, every one of them", () => {
  const shares = shareOut(301, scenarios);
  expect([...shares.values()].reduce((sum, share) => sum + share, 0)).toBe(301);
  expect(Math.min(...shares.values())).toBeGreaterThan(10);
});

test("a strike whose run gave up before it recovered counts, also where it was resumed", () => {
  const strike: Strike = { action: "kill", kind: "tools", time: 1, pids: [1], scenario: "s", run: "r" };
  const all: Strike[] = [strike, { ...strike, recovered: 5 }, { ...strike, recovered: 5, gaveUp: true }];
  expect(unrecovered(all)).toEqual([all[0], all[2]]);
});

test("the checker counts a trajectory in the batches of two steps", () => {
  const { trainedTwice } = findingsOf((copy) => {
    const [first, second] = [1, 2].map((step) => fileIn(copy, new RegExp(`steps/${step}/trained\\.json$`)));
    const batch = JSON.parse(readFileSync(first ?? "", "utf8")).value.value.trajectories;
    const record = JSON.parse(readFileSync(second ?? "", "utf8"));
    record.value.value.trajectories.push(batch[0]);
    writeFileSync(second ?? "", JSON.stringify(record));
  });
  expect(trainedTwice).toHaveLength(1);
});

test("the checker counts a process that outlived the run, and a lease that nobody gave back", async () => {
  const stray = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000); console.log('up')"], {
    env: { ...process.env, [markName]: mark },
    stdio: ["ignore", "pipe", "ignore"],
  });
  strays.push(stray);
  await once(stray.stdout, "data");
  const { orphans } = findingsOf((copy) => {
    const held = join(copy, "state", "everturn", "run-1");
    mkdirSync(held, { recursive: true });
    writeFileSync(join(held, "step-0001~task~0~session~1.json"), "{}");
  });
  expect(orphans).toHaveLength(2);
  expect(orphans.join("\n")).toContain(`process ${stray.pid}`);
});
