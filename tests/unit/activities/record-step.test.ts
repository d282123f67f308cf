import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordStep } from "../../../activities/record-step.ts";
import { readLines } from "../../../src/base/files/line-file.ts";
import type { StepRecord } from "../../../src/contracts/generated/step-record.ts";
import type { Call, Trajectory } from "../../../src/contracts/generated/trajectory.ts";
import { openRunFolder } from "../../../src/run/folder/open-runs.ts";
import { readRunFile } from "../../../src/run/folder/run-file.ts";
import { runFolder } from "../../../src/run/folder/run-folder.ts";
import { planRow, runFileKey, trainedStepKey, trajectoryKey } from "../../../src/run/store/keys.ts";
import { openRunStore } from "../../../src/run/store/open-run-store.ts";
import { trajectoryOf } from "../../../src/run/trajectory/trajectory-of.ts";
import { listVersions } from "../../../src/run/versions/list-versions.ts";
import { trainerPart, versionKey } from "../../../src/run/versions/version-parts.ts";
import { writeSampleRun } from "../../support/sample-run.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { folderOf, writeVersion } from "../../support/versions.ts";

const { runs, id: run, folder, plan, store: ownStore } = await writeSampleRun({}, temporaryFolder());
const opened = { plan, store: ownStore };
const open = async (id: string) => ({
  ...(await openRunFolder(runs, id)),
  plan: { ...plan, checkpoints: { every: 4 } },
});
const keeping = { add: () => {} }; // these steps have no trajectories that could be put into files
const [template] = await readLines<StepRecord>(folder.metrics);
if (template === undefined) throw new Error("the sample run has no steps");
for (const name of ["steps", "metrics.jsonl"]) rmSync(join(folder.root, name), { recursive: true });

test("time during which nothing worked on the run does not count", async () => {
  const lines = [{ begin: 0 }, { end: 3000 }, { begin: 7000 }]; // stopped for 2 s of the rollouts, 2 s of training
  writeFileSync(folder.sessions, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const seconds = { rollout: 5, train: 3, publish: 1, total: 9 };
  const record = { ...template, step: 7, policyVersion: 8, seconds };
  await recordStep(open, keeping)({ run, finished: [], record, clock: [0, 5000, 8000, 9000] });
  const worked = { rollout: 3, train: 1, publish: 1, total: 5 };
  expect((await readLines<StepRecord>(folder.metrics)).at(-1)?.seconds).toEqual(worked);
  for (const name of ["steps", "metrics.jsonl", "sessions.jsonl"])
    rmSync(join(folder.root, name), { recursive: true });
});

test("a step's record has the pauses of tool hosts during its rollouts", async () => {
  const change = { host: "search", reason: "", seconds: 3 };
  const line = { at: new Date(4000).toISOString(), ...change, state: "resumed" };
  writeFileSync(folder.hosts, `${JSON.stringify(line)}\n`);
  const record = { ...template, step: 7, policyVersion: 8 };
  await recordStep(open, keeping)({ run, finished: [], record, clock: [2000, 5000, 8000, 9000] });
  expect((await readLines<StepRecord>(folder.metrics)).at(-1)?.hostPauses).toEqual({ search: 2 });
  for (const name of ["steps", "metrics.jsonl", "hosts.jsonl"])
    rmSync(join(folder.root, name), { recursive: true });
});

test("a step's line is written once, as it was recorded first, however often it is recorded", async () => {
  const record = { ...template, step: 1, policyVersion: 2 };
  await recordStep(open, keeping)({ run, finished: [], record });
  await recordStep(open, keeping)({ run, finished: [], record: { ...record, rewardMean: -1 } });
  expect(await readLines(folder.metrics)).toEqual([record]);
});

test("a step that was recorded before its line was written gets the line it was recorded with", async () => {
  const record = { ...template, step: 1, policyVersion: 2 };
  rmSync(folder.metrics); // killed in between
  await recordStep(open, keeping)({ run, finished: [], record: { ...record, rewardMean: -1 } });
  expect(await readLines(folder.metrics)).toEqual([record]);
});

test("a step's record that was cut, in a power failure say, holds nobody up: it is made again", async () => {
  const record = { ...template, step: 1, policyVersion: 2 };
  truncateSync(join(folder.root, "steps", "1", "recorded.json"), 40);
  rmSync(folder.metrics);
  await recordStep(open, keeping)({ run, record, finished: [] });
  await recordStep(open, keeping)({ run, record: { ...record, rewardMean: -1 }, finished: [] });
  expect(await readLines(folder.metrics)).toEqual([record]);
});

test("metrics.jsonl is a view: lines that it lacks come with the next step, and one that can't be read is no obstacle", async () => {
  const record = (step: number) => ({ ...template, step, policyVersion: step + 1 });
  const lines = [1, 2, 3].map(record);
  for (const step of [2, 3]) await recordStep(open, keeping)({ run, record: record(step), finished: [] });
  expect(await readLines(folder.metrics)).toEqual(lines);
  rmSync(folder.metrics);
  await recordStep(open, keeping)({ run, record: record(3), finished: [] });
  expect(await readLines(folder.metrics), "taken away").toEqual(lines);
  writeFileSync(folder.metrics, '{"step":1}\n{"step":2\n');
  await recordStep(open, keeping)({ run, record: record(3), finished: [] });
  expect(await readLines(folder.metrics), "spoilt").toEqual(lines);
});

test("checkpoints and the newest versions stay, other old ones go, also those a kill left", async () => {
  for (let version = 0; version <= 12; version++) {
    await writeVersion(opened, version);
    if (version < 3 || version === 10) continue; // its worker was killed before it deleted anything
    await recordStep(
      open,
      keeping,
    )({
      run,
      finished: [],
      record: { ...template, step: version - 1, policyVersion: version },
    });
  }
  const kept = (await listVersions(opened)).filter(({ state }) => state === "there");
  expect(kept.map(({ version }) => version)).toEqual([0, 1, 5, 9, 10, 11, 12]);
  const { key, part } = trainerPart(plan, 8);
  expect(await opened.store.isFreed(key, part)).toBe(true);
  expect(readdirSync(join(folder.root, versionKey(plan, 8).tree)).sort(), "marks alone are left").toEqual([
    "freed-policy.json",
    "freed-trainer.json",
  ]);
});

test("a step's line has the means of what the reward and the tools measured of its finished trajectories", async () => {
  const { store } = await open(run);
  const ids = [0, 1, 2].map((sample) => `${run}/step-0001/measured/${sample}`);
  const task: Trajectory["task"] = {
    data_source: "lamps",
    prompt: [{ role: "user", content: "What does it cost?" }],
    reward_model: { ground_truth: "57" },
  };
  const call: Call = { tool: "look", arguments: {}, observation: "57", valid: true, attempts: 1 };
  const called = { action: "…", toolCalls: [call] };
  const silent = { action: "75", toolCalls: [] };
  const measured: Partial<Trajectory>[] = [
    { turns: [called, silent], answer: "75", metrics: { length: 1, "search.hits": 4 } },
    { turns: [silent], metrics: { length: 3, cutActions: 3 } },
    { turns: [silent] },
  ];
  for (const [index, id] of ids.entries()) {
    const record: Partial<Trajectory> = { task, ...measured[index] };
    await store.record<Partial<Trajectory>>(trajectoryKey(trajectoryOf(id)), record);
  }
  await recordStep(open, keeping)({ run, record: { ...template, step: 50 }, finished: ids });
  const line = (await readLines<StepRecord>(folder.metrics)).find(({ step }) => step === 50);
  expect(line?.metrics).toEqual({ length: 2, "search.hits": 4, cutActions: 1 });
  expect(line).toMatchObject({
    toolCallRate: 1 / 3,
    unreadableCallRate: 0,
    cutActionShare: 0.75,
    shownAnswerShare: 1 / 3,
    givenAnswerShare: 0,
  });
});

test("a condition of stopIf that holds after the step is returned, other conditions are not", async () => {
  const zero = { rewardMean: 0, successRate: 0, rewardSpreadWithin: 0, rewardSpreadBetween: 0 };
  const stopped = async (stopIf: NonNullable<typeof plan.stopIf>, name: string) => {
    const { root } = runFolder(runs, name);
    mkdirSync(root);
    const store = openRunStore(root);
    await store.record(planRow(1), { ...plan, stopIf });
    await store.record(runFileKey, await readRunFile(runs, run));
    const openNamed = () => openRunFolder(runs, name);
    const record = { ...template, ...zero };
    const record1 = { ...record, step: 1, policyVersion: 2 };
    const first = await recordStep(openNamed, keeping)({ run: name, finished: [], record: record1 });
    expect(first, "one step is no evidence").toBeUndefined();
    const record2 = { ...record, step: 2, policyVersion: 3 };
    return recordStep(openNamed, keeping)({ run: name, finished: [], record: record2 });
  };
  expect(await stopped(["never-rewarded"], "stopping")).toMatchObject({
    condition: "never-rewarded",
    evidence: expect.stringContaining("all trajectories of 2 steps earned 0"),
  });
  expect(await stopped(["kl-growth"], "continuing")).toBeUndefined();
});

test("two processes that both think a step is theirs leave it once, whole, and of one of them", async () => {
  const steps = 12;
  const raced = runFolder(runs, "raced");
  mkdirSync(raced.root);
  const planned = { ...plan, checkpoints: { every: 1 } };
  const store = openRunStore(raced.root);
  await store.record(planRow(1), planned);
  await store.record(runFileKey, await readRunFile(runs, run));
  const script = join(import.meta.dirname, "..", "..", "support", "racing-attempts.ts");
  const env = { ...process.env, EVERTURN_TEMPLATE: JSON.stringify(template) };
  const racers = ["a", "b"].map((name) =>
    spawn(process.execPath, [script, raced.root, name, String(steps)], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    }),
  );
  const said: string[] = [];
  for (const { stdout } of racers) stdout.on("data", (text: Buffer) => said.push(String(text)));
  for (const [code] of await Promise.all(racers.map((racer) => once(racer, "close")))) expect(code).toBe(0);

  const lines = await readLines<StepRecord>(raced.metrics);
  expect(lines.map(({ step }) => step)).toEqual(Array.from({ length: steps }, (_, index) => index + 1));
  for (const { step, rewardMean } of lines) {
    expect(rewardMean).toBeGreaterThan(0);
    const { value } = (await store.readTree(trainedStepKey(step))) ?? {};
    expect(value).toMatchObject({ step, name: expect.stringMatching(/^[ab]$/) });
    for (const part of ["policy", "trainer"] as const) {
      const path = await folderOf({ plan: planned, store }, step + 1, part);
      expect(value).toMatchObject({ name: readFileSync(join(path, "weights"), "utf8") });
    }
    expect(readdirSync(join(raced.root, "steps", String(step), "trained")), "of one attempt").toHaveLength(1);
  }
  const left = readdirSync(raced.root, { recursive: true, encoding: "utf8" });
  expect(left.filter((name) => name.endsWith(".tmp"))).toEqual([]);
});
