import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { check, type Findings } from "../chaos/check.ts";
import { markName } from "../chaos/marked-processes.ts";
import { type Strike, unrecovered } from "../chaos/recovery.ts";
import { type ChaosReport, chaos } from "../chaos/run-chaos.ts";
import { scenarios, shareOut } from "../chaos/scenarios.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** `npm run chaos` strikes as often as it is told, in every scenario; here each kind of process is struck, in one course or the other. */
const allStrikes = Number(process.env.EVERTURN_STRIKES ?? 10);
/** One by which the ten are kills of all nine kinds and a stop of a worker; what all processes end with is killed where there are few. */
const seed = 3394;
/** One with every process apart and twice, its store in the run's folder; one as `npm start` runs, on an object store. */
const courses = [
  { name: "two workers", store: "folder", strikes: Math.ceil(allStrikes / 2) },
  { name: "default layout", store: "object", strikes: Math.floor(allStrikes / 2) },
] as const;
const mark = randomUUID();
const folder = temporaryFolder();
const work = join(folder, "work");
const strays: ChildProcess[] = [];
const notes: string[] = [];
const reports = new Map<string, ChaosReport>();

beforeAll(async () => {
  mkdirSync(work);
  for (const { name, ...course } of courses) {
    const chosen = scenarios.filter((one) => one.name === name);
    const options = { work, mark, scenarios: chosen, seed, note: (text: string) => notes.push(text) };
    reports.set(name, await chaos({ ...course, ...options }));
  }
}, 1_200_000);
afterAll(() => {
  for (const stray of strays) stray.kill("SIGKILL");
});

/** A copy of what the first course left, changed by `tamper`, and what the checker finds in it. */
function findingsOf(tamper: (copy: string) => void): Promise<Findings> {
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

test.each(courses)(
  "runs that are killed and stopped at random moments lose nothing, and end as those left alone: $name, store $store",
  ({ name, strikes }) => {
    const report = reports.get(name);
    const text = [...notes, report?.text].join("\n");
    expect(report?.findings, text).toMatchObject({
      lostTrajectories: [],
      lostTurns: [],
      toolCallsTwice: [],
      unrecordedCalls: [],
      trainedTwice: [],
      orphans: [],
    });
    expect(report?.different, text).toEqual([]);
    expect(report?.counts, text).toMatchObject({ unrecovered: 0 });
    expect(report?.isClean, text).toBe(true);
    expect((report?.counts.kills ?? 0) + (report?.counts.stops ?? 0)).toBe(strikes);
    expect(report?.findings.seen.turns).toBeGreaterThan(2 * 8 * 3);
  },
);

test("single records were removed while the runs were struck, on either store", () => {
  for (const { name } of courses) {
    const root = join(work, name.replace(" ", "-"), "runs");
    const names = readdirSync(root, { recursive: true, encoding: "utf8" });
    expect(names.filter((one) => one.endsWith(".parquet")).length).toBeGreaterThan(1);
    expect(names.filter((one) => /step-0001\/.*turn-1\.json$/.test(one))).toEqual([]);
  }
});

test("the checker counts a turn whose tokens were changed", async () => {
  const changed = await findingsOf((copy) => {
    const file = fileIn(copy, /evaluation-v0001\/[^/]+\/0\/turn-1\.json$/);
    writeFileSync(file, readFileSync(file, "utf8").replace(/"tokens":\[\d+/, "$&1"));
  });
  expect(changed.lostTurns.join("\n")).toContain("is not what its digest says");
  expect(changed.lostTurns.join("\n")).toMatch(/segment [0-9a-f]+ is missing/);
});

test("the checker counts a turn that is gone, and one that says something else than before", async () => {
  const turn = /evaluation-v0001\/[^/]+\/0\/turn-2\.json$/;
  const gone = await findingsOf((copy) => rmSync(fileIn(copy, turn)));
  expect(gone.lostTurns.join("\n")).toContain("was there at a strike and is gone");
  const other = await findingsOf((copy) => appendFileSync(fileIn(copy, turn), " "));
  expect(other.lostTurns.join("\n")).toContain("was another at a strike");
});

test("the checker counts what a step's file no longer holds, and what it says otherwise than the records before", async () => {
  const stepFile = (copy: string, step: number) =>
    fileIn(copy, new RegExp(`steps/${step}/folded/[^/]+/trajectories\\.parquet$`));
  const broken = await findingsOf((copy) => appendFileSync(stepFile(copy, 1), " "));
  expect(broken.lostTrajectories.join("\n")).toContain("is not what its digest says");
  expect(broken.lostTrajectories.join("\n")).toMatch(/step-0001\/.* was reserved and has no record/);
  expect(broken.lostTurns.join("\n")).toMatch(/step-0001\/.* was there at a strike and is gone/);
  const other = await findingsOf((copy) => {
    const seen = join(copy, "seen.jsonl");
    const text = readFileSync(seen, "utf8");
    writeFileSync(
      seen,
      text.replace(/(step-0001\/.*turn-2\.json.*"says":")[0-9a-f]{64}/, `$1${"0".repeat(64)}`),
    );
  });
  expect(other.lostTurns).toHaveLength(1);
  expect(other.lostTurns[0]).toContain("was another at a strike than its step's file says");
});

test("the checker counts a trajectory without a record", async () => {
  const { lostTrajectories } = await findingsOf((copy) =>
    rmSync(fileIn(copy, /evaluation-v0001\/.*\/trajectory\.json$/)),
  );
  expect(lostTrajectories.join("\n")).toMatch(/evaluation-v0001\/.* has \d turns and no record/);
});

test.each(["evaluation-v0001", "step-0001"])(
  "the checker counts a tool call that ran again after its result was recorded, and a turn that was generated again: %s",
  async (stage) => {
    const again =
      (file: string, ...extras: object[]) =>
      (copy: string) => {
        const lines = readFileSync(join(copy, file), "utf8").split("\n");
        const line = lines.find((one) => one.includes(`${stage}/`)) ?? "{}";
        for (const extra of extras)
          appendFileSync(join(copy, file), `${JSON.stringify({ ...JSON.parse(line), ...extra })}\n`);
      };
    const later = { time: Date.now() + 60_000 };
    expect((await findingsOf(again("calls.jsonl", later))).toolCallsTwice).toHaveLength(1);
    const generated = await findingsOf(again("generations.jsonl", { ...later, event: "start" }));
    expect(generated.lostTurns).toHaveLength(1);
    const [start, stop] = [
      { ...later, event: "start" },
      { ...later, event: "stop" },
    ];
    expect((await findingsOf(again("generations.jsonl", start, stop))).lostTurns).toEqual([]);
  },
);

test("the checker counts a call that ran and left no record, but for what was left out", async () => {
  const call = /evaluation-v0001\/[^/]+\/0\/turn-2-call-1\.json$/;
  const gone = await findingsOf((copy) => rmSync(fileIn(copy, call)));
  expect(gone.unrecordedCalls).toHaveLength(1);
  const leftOut = await findingsOf((copy) => {
    const file = fileIn(copy, call);
    rmSync(file);
    const record = join(file, "..", "trajectory.json");
    writeFileSync(
      record,
      readFileSync(record, "utf8").replace(/"outcome":"[a-z-]+"/, '"outcome":"left-out"'),
    );
  });
  expect(leftOut.unrecordedCalls).toEqual([]);
});

test("strikes are shared out among all scenarios but those whose faults are the disk's alone", () => {
  const shares = shareOut(301, scenarios);
  expect([...shares.values()].reduce((sum, share) => sum + share, 0)).toBe(301);
  for (const [{ name, diskErrors }, share] of shares) {
    if (diskErrors > 0) expect(share, name).toBe(0);
    else expect(share, name).toBeGreaterThan(10);
  }
});

test("a strike whose run gave up before it recovered counts, also where it was resumed", () => {
  const strike: Strike = { action: "kill", kind: "tools", time: 1, pids: [1], scenario: "s", run: "r" };
  const all: Strike[] = [strike, { ...strike, recovered: 5 }, { ...strike, recovered: 5, gaveUp: true }];
  expect(unrecovered(all)).toEqual([all[0], all[2]]);
});

test("the checker counts a trajectory in the batches of two steps", async () => {
  const { trainedTwice } = await findingsOf((copy) => {
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
  const { orphans } = await findingsOf((copy) => {
    const held = join(copy, "state", "everturn", "run-1");
    mkdirSync(held, { recursive: true });
    writeFileSync(join(held, "step-0001~task~0~session~1.json"), "{}");
  });
  expect(orphans).toHaveLength(2);
  expect(orphans.join("\n")).toContain(`process ${stray.pid}`);
});
