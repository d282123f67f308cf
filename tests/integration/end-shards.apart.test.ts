import { join } from "node:path";
import { Context } from "@temporalio/activity";
import type { WorkflowHandle } from "@temporalio/client";
import { defineSearchAttributeKey } from "@temporalio/common";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endShards } from "../../activities/end-shards.ts";
import type { LoadTaskInput, ReserveGroupsInput } from "../../src/contracts/activities.ts";
import type { ShardInput } from "../../src/contracts/rollout.ts";
import type { TrainingInput } from "../../src/contracts/run.ts";
import type { RunSettings } from "../../src/contracts/run-settings.ts";
import { trajectoryInput } from "../../workflows/trajectory-input.ts";
import { evaluated } from "../support/evaluated.ts";
import { stepSettings } from "../support/step-settings.ts";
import { taskOf } from "../support/step-worker.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startWorkflows, type WorkflowWorker } from "../support/workflow-worker.ts";

const queue = "shards";
const queues = { orchestration: queue, policy: queue, tools: queue, trainer: queue };
const settings: RunSettings = { ...stepSettings, staleness: 1 };
let worker: WorkflowWorker;
let generating = 0;

beforeAll(async () => {
  const workflow = join(import.meta.dirname, "../../plugins/loop-tool-agent/workflow.ts");
  worker = await startWorkflows({
    folder: temporaryFolder(),
    queue,
    loop: { name: "loop-tool-agent", workflow },
    activities: {
      "open-run": async () => ({ settings }),
      "end-shards": endShards,
      "reserve-groups": async ({ groups }: ReserveGroupsInput) => groups.map(({ task }) => task),
      "load-task": async ({ place }: LoadTaskInput) => taskOf(place.task),
      "generate-turn": async () => {
        generating += 1;
        await Context.current().sleep("5 minutes");
      },
    },
  });
});
afterAll(() => worker.stop());

/** Starts a shard of `run` that another training workflow admitted, and that does not end by itself. */
async function startShard(run: string, task: string) {
  const input: ShardInput = {
    run,
    settings,
    queues,
    quickTurns: false,
    newest: true,
    source: "training",
    concurrency: 4,
    groups: [{ step: 1, stage: "step-0001", task, samples: [0, 1], number: 1 }],
    policyVersion: 0,
    admitter: { workflow: run, execution: "another" },
  };
  const before = generating;
  const shard = await worker.client.workflow.start("shard", {
    workflowId: `${run}/groups-00001`,
    taskQueue: queue,
    args: [input],
    typedSearchAttributes: [
      { key: defineSearchAttributeKey("EverturnRun", "KEYWORD"), value: run },
      { key: defineSearchAttributeKey("EverturnPolicyVersion", "INT"), value: 0 },
    ],
  });
  await expect.poll(() => generating - before, { timeout: 100_000 }).toBe(2);
  return { shard, trajectory: worker.client.workflow.getHandle(`${run}/step-0001/${task}/0`) };
}

/** Starts a trajectory that is no child of a shard, and that does not end by itself. A fork has no policy version. */
async function startTrajectory(run: string, sample: number, isFork: boolean): Promise<WorkflowHandle> {
  const attributes = [{ key: defineSearchAttributeKey("EverturnRun", "KEYWORD"), value: run }];
  const version = { key: defineSearchAttributeKey("EverturnPolicyVersion", "INT"), value: 0 };
  const place = { run, stage: "step-0001", step: 1, task: "c", sample };
  return worker.client.workflow.start("trajectory", {
    workflowId: `${run}/step-0001/c/${sample}`,
    taskQueue: queue,
    args: [trajectoryInput(place, { run, settings, queues, policyVersion: 0, source: "training" })],
    typedSearchAttributes: isFork ? attributes : [...attributes, version],
  });
}

test("a training workflow that begins ends the shards of an earlier one with their trajectories, and no other run's", async () => {
  const own = await startShard("run", "a");
  const other = await startShard("other", "b");
  const started = await startTrajectory("run", 0, false);
  const fork = await startTrajectory("run", 1, true);
  const listed = `ExecutionStatus = "Running"`;
  const count = async () => (await worker.client.workflow.count(listed)).count;
  await expect.poll(count, { timeout: 100_000 }).toBe(8); // each shard with two trajectories, and the other two
  const progress = { nextStep: 2, policyVersion: 1, evaluations: [evaluated(1)], trajectories: 2 };
  const input: TrainingInput = { run: "run", queues, progress };
  await worker.client.workflow.execute("training", { workflowId: "run", taskQueue: queue, args: [input] });
  const statusOf = async (handle: WorkflowHandle) => (await handle.describe()).status.name;
  expect(await statusOf(own.shard)).toBe("TERMINATED");
  await expect.poll(() => statusOf(own.trajectory), { timeout: 100_000 }).toBe("TERMINATED");
  expect(await statusOf(started)).toBe("TERMINATED");
  expect(await statusOf(fork)).toBe("RUNNING");
  expect(await statusOf(other.shard)).toBe("RUNNING");
  await other.shard.terminate();
});
