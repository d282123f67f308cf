import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "@temporalio/worker";
import { expect, test } from "vitest";
import { readLines } from "../../src/base/files/line-file.ts";
import { bundleOf, readBuilds } from "../../src/control/temporal/workflow-builds.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { everturn, killIfRunning, lastLine, type RunningCommand, start } from "../support/command.ts";
import { historiesOf, type RecordedHistory } from "../support/histories.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const tests = join(import.meta.dirname, "..");
const pipeline = join(folder, "pipeline.yaml");

/** The run's agent loop, of so many turns. A history of four turns is not one of two. */
function writeLoop(turns: number): void {
  const manifest = {
    name: "loop-counted",
    kind: "loop",
    version: "0.1.0",
    engines: { everturn: "*" },
    workflow: "./workflow.ts",
  };
  const loop = `async (context) => {
    await context.generate();
    return context.turn === ${turns} ? "answered" : "continue";
  }`;
  mkdirSync(join(folder, "loop-counted"), { recursive: true });
  writeFileSync(join(folder, "loop-counted", "everturn.plugin.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "loop-counted", "workflow.ts"), `export default ${loop};\n`);
}

function writePipeline(): void {
  const tasks = { plugin: "dataset-jsonl", config: { path: join(tests, "fixtures/scripted-tasks.jsonl") } };
  const config = {
    tokenizer: join(tests, "../pipelines/calculator/tokenizer"),
    conversations: [["1"]],
    seconds: 1,
  };
  writeFileSync(
    pipeline,
    JSON.stringify({
      name: "upgraded",
      seed: 1,
      steps: 2,
      tools: [],
      policy: { plugin: join(tests, "plugins/policy-scripted"), config },
      dataset: { train: tasks, validation: tasks },
      loop: { plugin: "./loop-counted" },
      reward: { plugin: "reward-exact-match" },
      trainer: { plugin: join(tests, "plugins/trainer-idle") },
      rollout: { batchSize: 4, groupSize: 2, maxActionTokens: 10 },
      evaluation: { every: 100, tasks: 1 },
    }),
  );
}

/** Begins a run and kills all of it when a trajectory of the first step has two turns; the run's id. */
async function killedInStepOne(): Promise<string> {
  const command = start("run", pipeline, "--runs", runs);
  try {
    const [run = ""] = await eventually(command, () => readdirSync(runs));
    const step = join(runs, run, "trajectories", "step-0001");
    await eventually(command, () =>
      readdirSync(step, { recursive: true }).filter((path) => `${path}`.endsWith("turn-2.json")),
    );
    return run;
  } finally {
    killIfRunning(command);
    await command.end();
  }
}

/** The builds that made a workflow's decisions, in order. */
function buildsOf({ history }: RecordedHistory): string[] {
  const builds = (history.events ?? []).flatMap(
    ({ workflowTaskCompletedEventAttributes: done }) => done?.deploymentVersion?.buildId ?? [],
  );
  return [...new Set(builds)];
}

test("after an upgrade trajectories end on the code they began with, and the training workflow moves on", async () => {
  writeLoop(4);
  writePipeline();
  const run = await killedInStepOne();
  writeLoop(2);
  const { code, stdout, stderr } = await everturn("resume", run, "--runs", runs, "--upgrade", "--json");
  expect(code, stderr).toBe(0);
  expect(lastLine(stdout)).toMatchObject({ run, steps: 2, trajectories: 8 });

  const paths = runFolder(runs, run);
  const [before = "", after = "", ...more] = await readBuilds(paths);
  expect(more).toEqual([]);
  const turns = (await readLines<{ turns: number }>(paths.metrics)).map((record) => record.turns);
  expect(turns).toEqual([4, 2]);

  const histories = await historiesOf(paths);
  const made = new Map<string, string[]>();
  for (const one of histories.reverse()) {
    const id = one.workflowId.slice(run.length);
    made.set(id, [...(made.get(id) ?? []), ...buildsOf(one)]);
  }
  expect(Object.fromEntries(made)).toMatchObject({
    "": [before, after],
    "/step-0001": [before],
    "/step-0002": [after],
    "/evaluation-v0002": [after],
  });
  const trajectories = [...made.keys()].filter((id) => id.startsWith("/step-0001/task-"));
  expect(trajectories.map((id) => made.get(id))).toEqual([[before], [before], [before], [before]]);
  const events = histories.flatMap(({ history }) => history.events ?? []);
  expect(events.filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);

  const first = histories.find(({ workflowId }) => workflowId === run + trajectories[0]);
  const workflowBundle = { codePath: bundleOf(paths, after) };
  await expect(Worker.runReplayHistory({ workflowBundle }, first?.history)).rejects.toThrow(/determinism/);
});

/** What `look` finds, once it finds something, while the command is under way. */
async function eventually<T>(command: RunningCommand, look: () => T[]): Promise<T[]> {
  for (;;) {
    try {
      const found = look();
      if (found.length > 0) return found;
    } catch {
      // the folder is not there yet
    }
    if (command.child.exitCode !== null) throw new Error((await command.end()).stderr);
    await sleep(100);
  }
}
