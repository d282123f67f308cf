import { join } from "node:path";
import { compare } from "everturn";
import { expect, test } from "vitest";
import { registerCompare } from "../../../../src/apps/cli/commands/compare.ts";
import type { Trajectory } from "../../../../src/contracts/generated/trajectory.ts";
import type { RunComparison } from "../../../../src/control/operations/compare.ts";
import { evaluationKey, planRow, trajectoryKey } from "../../../../src/run/store/keys.ts";
import { writeSampleRun } from "../../../support/sample-run.ts";
import { changeRecord } from "../../../support/stored-record.ts";
import { runCommand } from "../../apps/cli/run-command.ts";

const run = await writeSampleRun();
const { id, runs, store, folder } = run;
const tell = (...parameters: string[]) =>
  runCommand(registerCompare, "compare", ...parameters, "--runs", runs);

test("compares two evaluations of a run task by task", async () => {
  const json = await tell(`${id}/evaluation-v0001`, `${id}/v0005`, "--json");
  const comparison = JSON.parse(json) as RunComparison;
  expect(comparison).toMatchObject({
    first: { id: `${id}/evaluation-v0001`, policyVersion: 1, samples: 1, tasks: 6 },
    second: { id: `${id}/evaluation-v0005`, policyVersion: 5 },
    tasks: 6,
    bySource: { "reasoning_gym/chain_sum": { tasks: 6 } },
    byTag: { math: { tasks: 6 } },
  });
  const { first, second, difference } = comparison.measures.accuracy ?? {};
  expect(difference?.test).toBe("mcnemar");
  const change = comparison.gained.length - comparison.lost.length;
  expect((second?.value ?? 0) - (first?.value ?? 0)).toBeCloseTo(change / 6, 12);
  expect(difference?.value).toBeCloseTo(change / 6, 12);
  expect(comparison.gained.length).toBeGreaterThan(0);
  expect(await compare(`${folder.root}/evaluation-v0001`, id, { runs })).toEqual(comparison);
});

test("writes a table, and names so many tasks as are asked for", async () => {
  const text = await tell(`${id}/evaluation-v0001`, id, "--limit", "1");
  expect(text).toContain("compared on 6 shared tasks\n");
  expect(text).toMatch(/^all +accuracy +6 +16\.7 % \(3\.0–56\.4\) +\d.* \+\d.* [01]\.\d{3}$/m);
  expect(text).toMatch(/^newly solved: \d {2}task-0000\d … and \d more; --limit 0 names all$/m);
  expect(text).toMatch(/^lost: 0$/m);
});

test("of several, each is told against the first", async () => {
  const [first, second, third] = [`${id}/v0001`, `${id}/v0003`, id];
  const lines = (await tell(first, second, third)).split("\n");
  expect(lines[0]).toMatch(/^ +tasks +accuracy +reward +difference +p +newly solved +lost$/);
  expect(lines.slice(1, 4).map((line) => line.split(/ +/)[0])).toEqual(
    ["0001", "0003", "0005"].map((version) => `${id}/evaluation-v${version}`),
  );
  const all: RunComparison[] = JSON.parse(await tell(first, second, third, "--json"));
  expect(all.map((one) => one.second.id)).toEqual(
    ["0003", "0005"].map((version) => `${id}/evaluation-v${version}`),
  );
  expect(all[1]).toEqual(await compare(first, third, { runs }));
});

test("of two runs, the different settings are named", async () => {
  const other = await writeSampleRun({
    warmStart: true,
    steps: 4,
    batchSize: 8,
    tasks: 6,
    evaluationEvery: 2,
  });
  const { store: otherStore, plan } = other;
  await otherStore.record(planRow(2), { ...plan, seed: 9, rollout: { ...plan.rollout, temperature: 0.5 } });
  const { settings } = await compare(
    `${folder.root}/evaluation-v0001`,
    `${other.folder.root}/evaluation-v0001`,
  );
  expect(settings).toEqual([
    { key: "seed", first: plan.seed, second: 9 },
    { key: "rollout.temperature", first: plan.rollout.temperature, second: 0.5 },
  ]);
  const text = await tell(`${folder.root}/evaluation-v0001`, `${other.folder.root}/evaluation-v0001`);
  expect(text).toMatch(/^different settings: seed \d+ → 9, rollout\.temperature 1 → 0\.5$/m);
  expect(await tell(`${id}/v0001`, id)).not.toContain("different settings");
});

test("says what is missing", async () => {
  await expect(tell(`${id}/nope`, id)).rejects.toThrow(
    `The run ${id} has no evaluation nope. It has evaluation-v0000, evaluation-v0001, `,
  );
  await expect(tell("nope/evaluation-v0001", id)).rejects.toThrow(/nope/);
});

test("refuses evaluations on other tasks, or without a task in common", async () => {
  const evaluation = await store.read(evaluationKey("evaluation-v0001"));
  if (evaluation === undefined) throw new Error("there is no evaluation");
  await store.record(evaluationKey("evaluation-empty"), { ...evaluation, name: "evaluation-empty" });
  await expect(tell(`${id}/empty`, id)).rejects.toThrow("can't be compared: they have no task in common");
  const name = { stage: "evaluation-v0001", task: "task-00002", sample: 0 };
  changeRecord<Trajectory>(join(folder.root, trajectoryKey(name).path), (record) => ({
    ...record,
    task: { ...record.task, reward_model: { ground_truth: "another" } },
  }));
  await expect(tell(`${id}/v0001`, id)).rejects.toThrow(
    "1 of their 6 tasks differ, for example task-00002: they use different task sets",
  );
});
