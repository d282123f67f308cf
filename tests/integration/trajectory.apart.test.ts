import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ApplicationFailure } from "@temporalio/common";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EverturnError } from "../../src/base/errors/everturn-error.ts";
import { defined } from "../../src/base/records/defined.ts";
import type {
  CallToolInput,
  CallToolResult,
  LoadTaskInput,
  RecordLeftOutInput,
  ScoreInput,
} from "../../src/contracts/activities.ts";
import type { GenerateTurnInput, GenerateTurnResult } from "../../src/contracts/generate-turn.ts";
import type {
  Limits,
  ToolBinding,
  TrajectoryInput,
  TrajectoryResult,
} from "../../src/contracts/trajectory.ts";
import { durable } from "../../src/control/temporal/durable.ts";
import { timed } from "../../src/control/temporal/timed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startWorkflows, type WorkflowWorker } from "../support/workflow-worker.ts";

const folder = temporaryFolder();
const queue = "trajectories";
const calculator: ToolBinding = {
  definition: { name: "calculator", description: "Evaluates.", parameters: {} },
  retry: { maximumAttempts: 1, initialInterval: 100, backoffCoefficient: 1, maximumInterval: 100 },
  timeout: 5000,
  stateful: true,
  pure: false,
};

const call = (expression: string) =>
  `<tool_call>{"name": "calculator", "arguments": {"expression": "${expression}"}}</tool_call>`;

/** What the policy writes, turn by turn; told by the task's prompt. */
const actions: Record<string, string[]> = {
  parallel: [
    '<tool_call>{"name": "calculator", "arguments": {"expression": "slow"}}</tool_call>' +
      "<tool_call>calculator(1)</tool_call>" +
      '<tool_call>{"name": "no such tool", "arguments": {}}</tool_call>' +
      '<tool_call>{"name": "calculator", "arguments": {"expression": "fast"}}</tool_call>',
    "Answer: 3",
  ],
  tagged: [
    `<think>${call("fast")}</think>` +
      "<tool_call>\n<function=calculator>\n<parameter=expression>\nfast\n</parameter>\n</function>\n</tool_call>".repeat(
        3,
      ),
    "Answer: 3",
  ],
  expressed: ["fast!", "Answer: 3"],
  throwing: ["throw"],
  twice: ["generate twice"],
  slow: ["slow"],
  "late infrastructure": [`late ${call("late")}`, "late answer"],
  "failing sibling": [call("never") + call("fail")],
  "time of tools": [call("a second") + call("a second"), call("a second"), "Answer: 3"],
  "cancelled tool": [call("fast"), call("never"), "Answer: 3"],
  "slow tool": [call("slow"), call("never"), "Answer: 3"],
  invalid: [call("fast"), "<tool_call>calculator(1)</tool_call>", "<tool_call>{}</tool_call>", "Answer: 3"],
  "done by a tool": [call("fast"), call("the end") + call("fast"), "Answer: 3"],
  "not allowed": [call("forbidden"), call("forbidden"), "Answer: 3"],
  long: [call("fast"), call("fast"), call("fast"), "Answer: 3"],
};

let worker: WorkflowWorker;
const leftOut: string[] = [];
/** Activities that were under way when they were cancelled, and releases of tools. */
const cancelled: string[] = [];
const scored: ScoreInput[] = [];
/** How many calls the turn before each turn of a task began. */
const begunCalls = new Map<string, number[]>();

const activities = {
  "load-task": async ({ place }: LoadTaskInput) => ({
    data_source: "test",
    prompt: [{ role: "user", content: place.task }],
    reward_model: { ground_truth: "3" },
  }),
  "generate-turn": durable(async (input: GenerateTurnInput, signal) => {
    const { messages, turn, place, callsBefore } = input;
    begunCalls.set(place.task, [...(begunCalls.get(place.task) ?? []), callsBefore]);
    const action = actions[place.task]?.[turn - 1];
    if (action === "slow") await untilEnded("generate-turn", input, signal);
    if (action?.startsWith("late") === true) await sleep(700); // in a queue, with workers that are away …
    return defined<GenerateTurnResult>({
      action,
      finishReason: "stop",
      head: "a".repeat(64),
      policyVersion: 4 + turn,
      tokens: { prompt: messages.length, action: 1, observation: 0 },
      seconds: 0.7,
      workSeconds: 0.05,
      read:
        action === "fast!"
          ? {
              reasoning: "",
              answer: "",
              calls: [{ name: "calculator", arguments: { expression: "fast" } }],
            }
          : undefined,
    });
  }),
  calculator: durable(async (input: CallToolInput, signal) => {
    const expression = typeof input.arguments === "object" ? input.arguments.expression : "";
    if (expression === "never") await untilEnded("calculator", input, signal);
    if (expression === "slow") await sleep(500);
    if (expression === "late") await sleep(700);
    if (expression === "fail") throw new EverturnError("TOOL_STATE_LOST", { tool: "it", trajectory: "this" });
    const seconds = expression === "a second" ? 1 : 0.1;
    const answered = { observation: `${expression} ${input.call}`, reward: 0, attempts: 1, seconds };
    if (expression === "forbidden") return { ...answered, valid: false, invalid: "not now" };
    return defined<CallToolResult>({
      ...answered,
      valid: true,
      done: expression === "the end" ? true : undefined,
    });
  }),
  "score-trajectory": async (input: ScoreInput) => {
    scored.push(input);
    return { reward: 1, success: true };
  },
  "record-left-out": async ({ failure }: RecordLeftOutInput) => void leftOut.push(failure),
  "release-tools": async () => {
    cancelled.push("release-tools");
    throw ApplicationFailure.nonRetryable("the sandbox does not answer", "Sandbox");
  },
};

/** Works, to the end of its time or until it is cancelled; it takes a moment to end then. */
async function untilEnded(
  activity: string,
  { timeLimit: limit }: { timeLimit?: number | undefined },
  signal: AbortSignal,
): Promise<never> {
  try {
    await timed(() => new Promise(() => {}), { what: activity, signal, limit });
    throw new Error("it has no end");
  } finally {
    await sleep(300);
    cancelled.push(activity);
  }
}

beforeAll(async () => {
  const workflow = join(folder, "loop.ts");
  const toolAgent = join(import.meta.dirname, "../../plugins/loop-tool-agent/workflow.ts");
  writeFileSync(
    workflow,
    `import toolAgent from ${JSON.stringify(toolAgent)};
export default async (context) => {
  const task = await context.task();
  if (task.prompt[0].content === "twice") {
    await context.generate();
    await context.generate();
  }
  if (task.prompt[0].content === "throwing") throw new TypeError("the loop is wrong");
  return toolAgent(context);
};`,
  );
  const loop = { name: "loop-test", workflow };
  worker = await startWorkflows({ folder, queue, loop, activities });
});
afterAll(() => worker.stop());

function run(
  task: string,
  limits: Limits = {},
  more: Partial<TrajectoryInput> = {},
): Promise<TrajectoryResult> {
  const place = { id: `run/step-0001/${task}/0`, run: "run", stage: "step-0001", step: 1, task, sample: 0 };
  const input: TrajectoryInput = {
    place,
    source: "training",
    quickTurns: false,
    newest: false,
    policyVersion: 0,
    seed: 1,
    sampling: { temperature: 1, maxTokens: 8 },
    loop: { plugin: "loop-test", config: { maxTurns: 5 } },
    limits,
    reward: { retry: calculator.retry, pure: true },
    tools: [calculator],
    queues: { orchestration: queue, policy: queue, tools: queue, trainer: queue },
    ...more,
  };
  return worker.client.workflow.execute("trajectory", {
    workflowId: place.id,
    taskQueue: queue,
    args: [input],
  });
}

test("calls of one action run in parallel and keep their order, those that can't be made included", async () => {
  const result = await run("parallel");
  const calls = result.turns[0]?.toolCalls.map(({ tool, observation }) => `${tool}: ${observation}`);
  expect(calls).toEqual([
    "calculator: slow 0",
    expect.stringContaining(": error: the tool call is not JSON."),
    "no such tool: error: there is no tool no such tool. Available tools: calculator.",
    "calculator: fast 3",
  ]);
  expect(result).toMatchObject({ outcome: "answered", toolCalls: 4, validCalls: 2 });
  expect(begunCalls.get("parallel")).toEqual([0, 4]);
  expect(scored.at(-1)).toMatchObject({ turns: 2, calls: 0 });
});

test("calls are read in the action format of the run; of too many the first are made", async () => {
  const loop = { plugin: "loop-test", config: { maxTurns: 5, maxCalls: 2, parallelCalls: 1 } };
  const result = await run("tagged", {}, { format: "qwen3-coder", loop });
  const calls = result.turns[0]?.toolCalls.map(({ arguments: given, observation }) => [given, observation]);
  expect(calls).toEqual([
    [{ expression: "fast" }, "fast 0"],
    [{ expression: "fast" }, "fast 1"],
    ["1 more calls", "error: 1 more calls were not made: an action may have 2."],
  ]);
  expect(result).toMatchObject({ outcome: "answered", turnCount: 2 });
  const { turns } = await run("expressed");
  expect(turns[0]?.toolCalls).toMatchObject([{ tool: "calculator", observation: "fast 0" }]);
  cancelled.splice(0);
});

test("a tool that can't be released does not cost the trajectory; names made up are not searched by", async () => {
  const handle = worker.client.workflow.getHandle("run/step-0001/parallel/0");
  expect(await handle.result()).toMatchObject({ outcome: "answered", reward: 1, success: true });
  const { events } = await handle.fetchHistory();
  const released = events?.some(
    (event) => event.activityTaskFailedEventAttributes?.failure?.message === "the sandbox does not answer",
  );
  expect(released).toBe(true);
  const { searchAttributes } = await handle.describe();
  expect(searchAttributes.EverturnTools).toEqual(["calculator"]);
});

test("a loop that throws ends its trajectory as left out, instead of trying for ever", async () => {
  expect(await run("throwing")).toMatchObject({
    outcome: "left-out",
    failure: "loop-test: the loop is wrong",
  });
  expect(leftOut).toEqual(["loop-test: the loop is wrong"]);
});

test("a loop that generates twice in a turn is told apart from a policy that fails", async () => {
  const { failure } = await run("twice");
  expect(failure).toContain("Turn 1 of the agent loop loop-test has a second action.");
});

test("a turn that takes too long is ended by its activity; without an action there is nothing to train on", async () => {
  cancelled.splice(0);
  const result = await run("slow", { turnTime: 300 });
  expect(result).toMatchObject({ outcome: "left-out", failure: "time-limit: before its first action" });
  expect(cancelled.splice(0)).toEqual(["generate-turn"]);
});

test("a trajectory whose tool takes all of its time is scored as it is", async () => {
  const result = await run("slow tool", { time: 1000, turnTime: 60_000 });
  expect(result).toMatchObject({ outcome: "time-limit", turnCount: 2, reward: 1, toolCalls: 1 });
  expect(scored.at(-1), "the last turn began a call that has no answer").toMatchObject({
    turns: 2,
    calls: 1,
  });
  expect(result).toMatchObject({ policyVersion: 5, newestPolicyVersion: 6 });
  expect(cancelled.splice(0)).toEqual(["calculator", "release-tools"]);
});

test("what infrastructure makes late costs a trajectory none of its time", async () => {
  const result = await run("late infrastructure", { turnTime: 600, time: 900 });
  expect(result).toMatchObject({ outcome: "answered", turnCount: 2, toolCalls: 1 });
  cancelled.splice(0);
});

test("calls made at once count as long as the longest", async () => {
  expect(await run("time of tools", { time: 1500 })).toMatchObject({ outcome: "time-limit", turnCount: 2 });
  cancelled.splice(0);
});

test("when a call gives up, its siblings are cancelled and waited for before their tools are released", async () => {
  const { outcome, failure } = await run("failing sibling");
  expect(outcome).toBe("left-out");
  expect(failure).toContain("calculator: The tool it lost its state for this");
  expect(cancelled.splice(0)).toEqual(["calculator", "release-tools"]);
});

test("calls in a row that are not valid end a trajectory, and the score gets those that no activity wrote down", async () => {
  const result = await run("invalid", { invalidCalls: 2 });
  expect(result).toMatchObject({ outcome: "invalid-limit", turnCount: 3, toolCalls: 3, validCalls: 1 });
  expect(scored.at(-1)).toMatchObject({ turns: 3, outcome: "invalid-limit" });
  expect(scored.at(-1)?.refused).toMatchObject([{ turn: 3, call: 0, tool: "" }]);
  expect(await run("long", { invalidCalls: 2 })).toMatchObject({ outcome: "answered", turnCount: 4 });
});

test("a tool that says that it is done ends the trajectory after the turn's observations", async () => {
  const result = await run("done by a tool", { turns: 2 });
  expect(result).toMatchObject({ outcome: "done", turnCount: 2, toolCalls: 3, validCalls: 3, reward: 1 });
  expect(result.turns[1]?.toolCalls).toMatchObject([
    { observation: "the end 0", done: true },
    { observation: "fast 1" },
  ]);
  expect(scored.at(-1)).toMatchObject({ outcome: "done", turns: 2, calls: 2 });
});

test("calls that a tool finds invalid count against the limit, and what holds state is released", async () => {
  cancelled.splice(0);
  const result = await run("not allowed", { invalidCalls: 2 });
  expect(result).toMatchObject({ outcome: "invalid-limit", turnCount: 2, toolCalls: 2, validCalls: 0 });
  expect(cancelled.splice(0)).toEqual(["release-tools"]);
});

test("turns and tokens of a trajectory are bounded", async () => {
  const short = await run("long", { turns: 2 });
  expect(short).toMatchObject({ outcome: "turn-limit", turnCount: 2, toolCalls: 2, reward: 1 });
  expect(await run("long", { tokens: 5 })).toMatchObject({ outcome: "token-limit", turnCount: 3 });
});

test("a trajectory that is cancelled is left out, with what it holds released", async () => {
  const working = run("cancelled tool", {});
  const handle = worker.client.workflow.getHandle("run/step-0001/cancelled tool/0");
  const reached = async () => (await handle.describe().catch(() => undefined))?.historyLength;
  await expect.poll(reached, { timeout: 100_000 }).toBeGreaterThan(20);
  await handle.cancel();
  expect(await working).toMatchObject({ outcome: "left-out", failure: "cancelled", turnCount: 2 });
  expect(leftOut).toContain("cancelled");
  const { events } = await handle.fetchHistory();
  const scheduled = events?.map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
  expect(scheduled?.filter(Boolean).slice(-2)).toEqual(["record-left-out", "release-tools"]);
});
