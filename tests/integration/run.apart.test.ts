import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readLines } from "../../src/base/files/line-file.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import type { EvaluationRecord, TrainingResult } from "../../src/contracts/run.ts";
import { type DevServer, startDevServer } from "../../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { everturn, lastLine } from "../support/command.ts";
import { storedRecord } from "../support/stored-record.ts";

const runs = mkdtempSync(join(tmpdir(), "everturn-run-"));
const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");
let server: DevServer;
let result: TrainingResult & { seconds: number };

beforeAll(async () => {
  const binary = await findServerBinary();
  server = await startDevServer({ binary, database: join(runs, "server.db"), log: join(runs, "server.log") });
  // Random actions are never right, but they differ: so each step has a gradient.
  const changes = [
    "trackers=[tracker-tensorboard]",
    "reward=[reward-exact-match, {plugin: ../plugins/reward-latin}]",
  ];
  const ended = await everturn(
    "run",
    pipeline,
    "--runs",
    runs,
    "--address",
    server.address,
    "--json",
    ...changes.flatMap((change) => ["--set", change]),
  );
  expect(ended.code, ended.stderr).toBe(0);
  result = lastLine(ended.stdout);
}, 400_000); // a whole run
afterAll(async () => {
  await server.stop();
  await rm(runs, { recursive: true, force: true });
});

test("a run that joins a server leaves its folder with plan, metrics, checkpoints, evaluations and report", async () => {
  expect(result).toMatchObject({ steps: 3, trajectories: 48 });
  const folder = runFolder(runs, result.run);
  const records = await readLines<StepRecord>(folder.metrics);
  expect(records.map(({ step, policyVersion }) => [step, policyVersion])).toEqual([
    [1, 2],
    [2, 3],
    [3, 4],
  ]);
  for (const record of records) {
    expect(record.logprobGap, "recorded against recomputed log-probabilities").toBeLessThan(1e-4);
    expect(record.gradientNorm).toBeGreaterThan(1e-3);
  }
  expect(storedRecord(join(folder.root, "plan", "1.json"))).toMatchObject({
    name: "small",
    seed: 7,
    steps: 3,
  });
  const newest = await everturn("versions", result.run, "newest", "--runs", runs);
  for (const file of ["model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json"]) {
    expect(existsSync(join(newest.stdout.trim(), file)), file).toBe(true);
  }
  const events = readdirSync(join(folder.root, "tensorboard"));
  expect(events).toEqual([expect.stringMatching(/^events\.out\.tfevents\.\d{10}\./)]);
  const written = readFileSync(join(folder.root, "tensorboard", events[0] ?? ""), "latin1");
  for (const [tag, times] of [
    ["train/rewardMean", 3],
    ["evaluation/accuracy", 4],
  ] as const)
    expect(written.split(tag)).toHaveLength(1 + times);
  const names = ["evaluation-v0000", "evaluation-v0001", "evaluation-v0003", "evaluation-v0004"];
  const evaluations = names.map((name) =>
    storedRecord<EvaluationRecord>(join(folder.root, "evaluations", `${name}.json`)),
  );
  expect(evaluations.map(({ tasks }) => tasks)).toEqual([8, 8, 8, 8]);
  expect(readFileSync(folder.report, "utf8")).toContain("Held-out accuracy");
});

test("trajectories are found by their search attributes, and read without decoding", async () => {
  const connection = await Connection.connect({ address: server.address });
  const client = new Client({ connection });
  const query = `EverturnRun = "${result.run}" AND EverturnStep = 2 AND WorkflowType = "trajectory"`;
  expect((await client.workflow.count(`${query} AND EverturnStage = "step-0002"`)).count).toBe(16);
  const called = client.workflow.list({ query: `${query} AND EverturnTools = "calculator"` });
  const { value: first } = await called[Symbol.asyncIterator]().next();
  const { turns, reward } = await client.workflow.getHandle(first?.workflowId ?? "").result();
  expect(turns[0].action).toContain("<tool_call>");
  expect(turns[0].toolCalls[0]).toMatchObject({ tool: "calculator", observation: expect.any(String) });
  expect(reward).toEqual(expect.any(Number));
  await connection.close();
});

test("show and trajectories print what the store holds", async () => {
  const listed = await everturn("trajectories", result.run, "--runs", runs, "--stage", "step-0003", "--json");
  const { trajectories, total } = lastLine<{ trajectories: { id: string }[]; total: number }>(listed.stdout);
  expect(total).toBe(16);
  const shown = await everturn("show", trajectories[0]?.id ?? "", "--runs", runs, "--tokens");
  expect(shown.stdout).toContain("State the final answer");
  expect(shown.stdout).toMatch(/action\s+\d+\s+".*"\s+1\s+-\d/);
});

test("evaluate measures several samples of each task, once under a name", async () => {
  const evaluate = (...options: string[]) =>
    everturn("evaluate", result.run, "--runs", runs, "--name", "twice", "--no-tools", ...options);
  const asked = ["--limit", "2", "--samples", "2"];
  const ended = await evaluate(...asked, "--json");
  expect(ended.code, ended.stderr).toBe(0);
  const record = lastLine<EvaluationRecord>(ended.stdout);
  expect(record).toMatchObject({
    run: result.run,
    evaluation: "evaluation-twice",
    policyVersion: 4,
    tasks: 2,
    samples: 2,
    temperature: 1,
    accuracy: 0,
    numbers: {
      tasks: 2,
      measures: { accuracy: { value: 0, low: 0 }, "pass@2": { value: 0 }, "maj@2": { value: 0 } },
      bySource: { "reasoning_gym/chain_sum": { tasks: 2 } },
      byTag: { math: { tasks: 2 } },
    },
  });
  const again = await evaluate(...asked, "--json");
  expect(lastLine(again.stdout)).toEqual(record);
  const other = await evaluate("--limit", "2", "--samples", "3");
  expect(other.stderr).toContain("EVALUATION_DIFFERS");
  expect(other.stderr).toContain("was started with different settings: samples 2, now 3");
});

test("resuming a run that has ended says so again, and does nothing twice", async () => {
  const { code, stdout } = await everturn("resume", result.run, "--runs", runs, "--json");
  expect(code).toBe(0);
  expect(lastLine(stdout)).toMatchObject({ run: result.run, steps: 3, accuracyAfter: result.accuracyAfter });
  expect(await readLines(runFolder(runs, result.run).metrics)).toHaveLength(3);
});
