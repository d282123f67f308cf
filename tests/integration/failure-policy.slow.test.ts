import { ApplicationFailure, WorkflowFailedError } from "@temporalio/client";
import { rootCause } from "@temporalio/common";
import { afterAll, beforeAll, expect, test } from "vitest";
import type {
  DrawTasksInput,
  LoadTaskInput,
  ReserveGroupsInput,
  TrainStepInput,
} from "../../src/contracts/activities.ts";
import type { GenerateTurnInput } from "../../src/contracts/generate-turn.ts";
import type { EvaluationInput, EvaluationRecord } from "../../src/contracts/run.ts";
import type { RunSettings } from "../../src/contracts/run-settings.ts";
import { type StepWorker, startSteps, taskOf } from "../support/step-worker.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
let worker: StepWorker;

/** Tasks of the first round and of those after; a sample fails where its number is in `failing[task]`. */
let rounds: string[][] = [];
let failing: Record<string, number[]> = {};
const reserved: ReserveGroupsInput[] = [];

const drawn = ({ replacement }: DrawTasksInput) =>
  (rounds[(replacement?.round ?? 1) - 1] ?? []).slice(0, replacement?.count);
const activities = {
  "draw-tasks": async (input: DrawTasksInput) => drawn(input),
  "reserve-groups": async (input: ReserveGroupsInput) => {
    reserved.push(input);
    return input.groups.map(({ task }) => task);
  },
  "load-task": async ({ place }: LoadTaskInput) => taskOf(place.task),
  "generate-turn": async ({ place }: GenerateTurnInput) => {
    if (failing[place.task]?.includes(place.sample) === true) {
      throw ApplicationFailure.nonRetryable("the sampler is down", "SamplerDown");
    }
    return {
      action: "done",
      finishReason: "stop",
      head: "a".repeat(64),
      policyVersion: 0,
      tokens: { prompt: 1, action: 1, observation: 0 },
      seconds: 0,
    };
  },
  "score-trajectory": async () => ({ reward: 1, success: true }),
  "record-left-out": async () => {},
  "record-evaluation": async () => {},
};

beforeAll(async () => {
  worker = await startSteps(folder, activities);
});
afterAll(() => worker.stop());

function evaluate(name: string): Promise<EvaluationRecord> {
  const queues = { orchestration: "steps", policy: "steps", tools: "steps", trainer: "steps" };
  const input: EvaluationInput = { run: "run", plan: { name, step: 0, policyVersion: 1 }, settings, queues };
  const options = { workflowId: `run/${name}`, taskQueue: queues.orchestration, args: [input] };
  return worker.client.workflow.execute("evaluation", options);
}

function step(number: number, changes: Partial<RunSettings>): Promise<TrainStepInput> {
  return worker.step(number, { ...settings, ...changes });
}

const settings: RunSettings = {
  seed: 1,
  steps: 1,
  warmStartSteps: 0,
  batchSize: 6,
  groupSize: 3,
  concurrency: 200,
  minGroup: 2,
  maxInfrastructureFailures: 0.5,
  sampling: { temperature: 1, maxTokens: 8 },
  tools: [],
  evaluationEvery: 1,
  evaluationTasks: 1,
  limits: {},
  staleness: 0,
  reward: {
    retry: { maximumAttempts: 1, initialInterval: 1, backoffCoefficient: 1, maximumInterval: 1 },
    pure: true,
  },
  loop: { plugin: "loop-tool-agent", config: { maxTurns: 2 } },
};

test("a group that lost too many members is replaced, one that lost few goes on", async () => {
  rounds = [["a", "b"], ["c"]];
  failing = { a: [1], b: [0, 2] };
  const { batch, leftOut } = await step(1, {});
  expect(batch.map(({ trajectory }) => trajectory.replace("run/step-0001/", ""))).toEqual([
    "a/0",
    "a/2",
    "c/0",
    "c/1",
    "c/2",
  ]);
  expect(leftOut).toEqual([
    { trajectory: "run/step-0001/a/1", reason: "generate-turn: the sampler is down" },
    { trajectory: "run/step-0001/b/0", reason: "generate-turn: the sampler is down" },
    { trajectory: "run/step-0001/b/1", reason: "too many trajectories of its group were left out" },
    { trajectory: "run/step-0001/b/2", reason: "generate-turn: the sampler is down" },
  ]);
  expect(worker.records.at(-1)).toMatchObject({
    trajectories: 5,
    leftOut: 3,
    groupsLost: 1,
    leftOutShare: 1 / 3,
    leftOutReasons: { "generate-turn: the sampler is down": 3 },
  });
});

test("a step whose infrastructure fails more than the share that is allowed stops, and says what failed", async () => {
  rounds = [["d", "e"]];
  failing = { d: [0, 1], e: [0, 1] };
  const error: unknown = await step(2, {}).catch((reason) => reason);
  expect(error instanceof WorkflowFailedError && rootCause(error.cause)).toMatchInlineSnapshot(
    `"Infrastructure failed 4 of 6 trajectories of step 2, more than rollout.maxInfrastructureFailures (50 %) allows. 4 of them, such as run/step-0002/d/0: generate-turn: the sampler is down. Fix the cause, then run \`npx everturn resume run\`, which tries again the trajectories that were left out."`,
  );
});

test("a step none of whose trajectories finishes says why, how many, and which one to look at", async () => {
  rounds = [["f", "g"]];
  failing = { f: [0, 1, 2], g: [0, 1, 2] };
  const error: unknown = await step(4, { maxInfrastructureFailures: 1 }).catch((reason) => reason);
  expect(error instanceof WorkflowFailedError && rootCause(error.cause)).toContain(
    "Every trajectory of step 4 was left out. 6 of 6, such as run/step-0004/f/0: generate-turn: the sampler is down.",
  );
});

test("an evaluation none of whose trajectories finishes stops with the reason, one that has some goes on", async () => {
  rounds = [["h", "i"]];
  failing = { h: [0], i: [0] };
  const error: unknown = await evaluate("evaluation-v0001").catch((reason) => reason);
  expect(error instanceof WorkflowFailedError && rootCause(error.cause)).toMatch(
    /^Every trajectory of evaluation-v0001 was left out, so there is no accuracy to report. 2 of 2, such as run\/evaluation-v0001\/h\/0: generate-turn: the sampler is down\./,
  );
  failing = { h: [0] };
  expect(await evaluate("evaluation-v0002")).toMatchObject({ tasks: 2, leftOut: 1, accuracy: 0.5 });
});

test("a step of more trajectories than a workflow can well hold is rolled out in shards, without texts", async () => {
  const tasks = Array.from({ length: 44 }, (_, index) => `t${index}`);
  rounds = [tasks, ["again"]];
  failing = { t7: [0, 1] };
  reserved.length = 0;
  const { batch } = await step(3, { batchSize: 132 });
  expect(batch).toHaveLength(132);
  expect(new Set(batch.map(({ trajectory }) => trajectory)).size).toBe(132);
  expect(batch.at(-1)?.trajectory).toBe("run/step-0003/again/2");
  expect(reserved.map(({ groups }) => groups.length).sort((a, b) => b - a)).toEqual([42, 2, 1]);
  const handle = worker.client.workflow.getHandle("run");
  const { events = [] } = await handle.fetchHistory();
  const children = events?.flatMap(
    ({ startChildWorkflowExecutionInitiatedEventAttributes: child }) => child?.workflowId ?? [],
  );
  expect(children).toEqual(
    ["shard-1", "shard-2", "shard-3"].map((shard) => `run/step-0003/${shard}`).concat("run/step-0003"),
  );
  // How many signals and workflow tasks there are hangs on what ends in the same second.
  const isOfNews = (event: object) =>
    Object.keys(event).some((key) => /^workflow(Task|ExecutionSignaled)/.test(key));
  const others = events?.filter((event) => !isOfNews(event)) ?? [];
  expect(others.length).toBeGreaterThan(4);
  expect(others.length).toBeLessThan(40);
  expect(JSON.stringify(events)).not.toContain("done");
});
