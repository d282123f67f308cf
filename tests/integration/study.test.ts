import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import type { JobResult } from "../../src/studies/study-results.ts";
import { lastLine, type RunningCommand, startWith } from "../support/command.ts";
import { processesWith } from "../support/processes.ts";
import { writeStudy } from "../support/study.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const file = writeStudy(folder);
afterAll(() => {
  for (const pid of processesWith(folder).keys()) process.kill(pid, "SIGKILL");
});

const study = (name: string, ...parameters: string[]): RunningCommand =>
  startWith({ NAME: name }, "study", file, "--runs", runs, "--json", ...parameters);

async function ended(command: RunningCommand): Promise<JobResult[]> {
  const { code, stdout, stderr } = await command.end();
  expect(code, stderr).toBe(0);
  return lastLine<{ jobs: JobResult[] }>(stdout).jobs;
}

/** Without the names of the runs, which the study's name begins. */
const unnamed = (jobs: JobResult[]) => JSON.parse(JSON.stringify(jobs).replaceAll(/"(first|second)-/g, '"'));

test("a study gives the same table twice, the second time killed in a run and in an evaluation", async () => {
  const first = await ended(study("first"));
  const [warm, rl, heldOut] = first;
  expect(warm?.rows.map(({ run, policyVersion }) => [run, policyVersion])).toEqual([
    ["first-warm", 0],
    ["first-warm", 1],
  ]);
  expect(rl?.rows.map(({ run, values, policyVersion }) => [run, values.seed, policyVersion])).toEqual([
    ["first-rl-1", 1, 0],
    ["first-rl-1", 1, 1],
    ["first-rl-2", 2, 0],
    ["first-rl-2", 2, 1],
  ]);
  expect(heldOut?.rows).toHaveLength(4);
  const rewards = heldOut?.rows.map(({ measures }) => measures.reward?.value) ?? [];
  expect(new Set(rewards).size, `${rewards}`).toBeGreaterThan(2); // what is compared below says something
  const [means] = heldOut?.overSeeds ?? [];
  expect(means).toMatchObject({ values: {}, policyVersion: 0, runs: 2 });
  expect(means?.measures.reward?.value).toBeCloseTo(((rewards[0] ?? 0) + (rewards[2] ?? 0)) / 2, 12);
  expect(readdirSync(join(folder, "first-policy"))).toContain("model.safetensors");

  const inRun = study("second");
  const turns = join(runs, "second-rl-1", "trajectories", "step-0001");
  await vi.waitUntil(() => existsSync(turns), { timeout: 400_000, interval: 20 });
  inRun.killGroup();
  await inRun.end();
  const inEvaluation = study("second");
  const drawn = join(runs, "second-rl-1", "trajectories", "evaluation-held-out-v0", "task-00003");
  await vi.waitUntil(() => existsSync(drawn), { timeout: 400_000, interval: 20 });
  inEvaluation.killGroup();
  await inEvaluation.end();
  const evaluated = join(runs, "second-rl-1", "evaluations", "evaluation-held-out-v0.json");
  expect(existsSync(evaluated), "it was killed before it had ended").toBe(false);
  const last = study("second");
  expect(unnamed(await ended(last))).toEqual(unnamed(first));
  expect(last.stderr()).toContain("job 1/5 data: ");
  expect(last.stderr()).toMatch(/job 3\/5 rl: second-rl-1 has ended\n/);

  const printed = startWith({ NAME: "second" }, "study", file, "--runs", runs, "--table");
  const { stdout } = await printed.end();
  expect(stdout).toMatch(/^held-out, mean over seeds\n {2}runs {2}version .*\n {2}2 .* 0 /m);
});
