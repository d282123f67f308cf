import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import type { JobResult } from "../../src/results/studies/study-results.ts";
import { lastLine, type RunningCommand, startWith } from "../support/command.ts";
import { killAll, processesWith } from "../support/processes.ts";
import { writeStudy } from "../support/study.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

vi.setConfig({ testTimeout: 900_000 }); // minutes of computing

const folder = temporaryFolder();
const runs = join(folder, "runs");
const file = writeStudy(folder);
const waiting = { timeout: 250_000, interval: 20 };
afterAll(() => {
  killAll(processesWith(folder).keys(), "SIGKILL");
});

const study = (): RunningCommand => startWith({ NAME: "first" }, "study", file, "--runs", runs, "--json");

async function ended(command: RunningCommand): Promise<JobResult[]> {
  const { code, stdout, stderr } = await command.end();
  expect(code, stderr).toBe(0);
  return lastLine<{ jobs: JobResult[] }>(stdout).jobs;
}

test("a study one of whose runs is lost makes it again, killed in the run and in an evaluation, and gives the same table", async () => {
  const first = await ended(study());
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

  const lost = join(runs, "first-rl-1");
  rmSync(lost, { recursive: true });
  const inRun = study();
  await vi.waitUntil(() => existsSync(join(lost, "trajectories", "step-0001")), waiting);
  inRun.killGroup();
  await inRun.end();
  const inEvaluation = study();
  // The second of a session, on the queues of the first, which is recorded.
  const drawn = join(lost, "trajectories", "evaluation-held-out-newest", "task-00003");
  await vi.waitUntil(() => existsSync(drawn), waiting);
  inEvaluation.killGroup();
  await inEvaluation.end();
  const evaluated = (version: string) =>
    existsSync(join(lost, "evaluations", `evaluation-held-out-${version}.json`));
  expect(evaluated("v0")).toBe(true);
  expect(evaluated("newest"), "it was killed before it had ended").toBe(false);
  const last = study();
  expect(await ended(last)).toEqual(first);
  expect(last.stderr()).toContain("job 1/5 data: ");
  expect(last.stderr()).toMatch(/job 3\/5 rl: first-rl-1 has ended\n/);
  const second = join(runs, "first-rl-2", "evaluation-plans", "evaluation-held-out-newest.json");
  expect(JSON.parse(readFileSync(second, "utf8"))).toMatchObject({
    value: { queuePrefix: "first-rl-2/evaluation-held-out-v0/" },
  });

  const printed = startWith({ NAME: "first" }, "study", file, "--runs", runs, "--table");
  const { stdout } = await printed.end();
  expect(stdout).toMatch(/^held-out, mean over seeds\n {2}runs {2}version .*\n {2}2 .* 0 /m);
});
