import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Task } from "../../../src/contracts/generated/task.ts";
import type { TrajectoryPlace } from "../../../src/contracts/trajectory.ts";
import { createRun } from "../../../src/runs/create-run.ts";
import { toolWorker } from "../../../src/temporal/tool-worker.ts";
import { samplePlan } from "../../support/sample-plan.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const runs = temporaryFolder();
const entry = join(runs, "tool-memory", "index.ts");
mkdirSync(join(runs, "tool-memory"));
// Its instances are what happened to them, in order. The first one of trajectory "unlucky" can't be made.
writeFileSync(
  entry,
  `const unlucky = [];
export default {
  create: ({ instance }) => {
    if (instance.includes("unlucky") && unlucky.push(1) === 1) throw new Error("no room");
    return ["created for " + instance];
  },
  execute: () => ({ text: "" }),
  release: (state) => void state.push("released"),
};`,
);

const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 1 });
const [calculator] = plan.tools;
if (calculator?.manifest.tool === undefined) throw new Error("the sample plan has no tool");
const manifest = { ...calculator.manifest, tool: { ...calculator.manifest.tool, stateful: true } };
const run = await createRun({ ...plan, tools: [{ ...calculator, entry, manifest }] }, runs, undefined, false);

const task: Task = { data_source: "test", prompt: [], reward_model: { ground_truth: "" } };
const place = (name: string): TrajectoryPlace => ({
  ...{ id: name, run, stage: "step-0001", step: 1, task: name, sample: 0 },
});

test("a tool has one instance for each trajectory, released once", async () => {
  const worker = toolWorker(runs);
  const [first, same] = await Promise.all([
    worker.instance(place("a"), task, "calculator", false),
    worker.instance(place("a"), task, "calculator", false),
  ]);
  expect(same).toBe(first);
  expect(await worker.instance(place("a"), task, "calculator", true)).toBe(first);
  expect(await worker.instance(place("b"), task, "calculator", false)).toEqual(["created for b"]);
  await worker.release(place("a"), "calculator");
  await worker.release(place("a"), "calculator");
  expect(first).toEqual(["created for a", "released"]);
});

test("state that died with its worker is not made up anew: the call fails visibly", async () => {
  await expect(toolWorker(runs).instance(place("a"), task, "calculator", true)).rejects.toMatchObject({
    code: "TOOL_STATE_LOST",
    retryable: false,
  });
});

test("an instance that could not be made is tried again", async () => {
  const worker = toolWorker(runs);
  await expect(worker.instance(place("unlucky"), task, "calculator", false)).rejects.toThrow("no room");
  expect(await worker.instance(place("unlucky"), task, "calculator", false)).toEqual(["created for unlucky"]);
});

test("a worker that ends releases what it still holds", async () => {
  const worker = toolWorker(runs);
  const held = await Promise.all(
    ["a", "b"].map((name) => worker.instance(place(name), task, "calculator", false)),
  );
  await worker.close();
  expect(held).toEqual([
    ["created for a", "released"],
    ["created for b", "released"],
  ]);
});
