import { expect, test } from "vitest";
import type { GenerateTurnResult } from "../../../../src/contracts/generate-turn.ts";
import type { Segment } from "../../../../src/contracts/generated/segment.ts";
import type { Call, Trajectory } from "../../../../src/contracts/generated/trajectory.ts";
import { atifTrajectory } from "../../../../src/run/projections/atif-trajectory.ts";
import { segmentRef } from "../../../../src/run/projections/segment-ref.ts";
import type { Detail } from "../../../../src/run/projections/trajectory-detail.ts";

const id = "run/step-0001/task-00001/2";
const settings = {
  agent: { name: "everturn", version: "1.0.0", tool_definitions: [{ type: "function" }] },
  read: (action: string) => ({
    answer: action.split("<")[0] ?? "",
    reasoning: action.startsWith("Hm") ? "Hm." : "",
  }),
  imagePath: (sha256: string) => `/run/bytes/${sha256}.bin`,
};
const image = { sha256: "a".repeat(64), mediaType: "image/png", bytes: 9 };
const call = (more: Partial<Call>): Call => ({
  tool: "sum",
  arguments: { of: [1, 2] },
  observation: "3",
  valid: true,
  attempts: 1,
  ...more,
});

/** Writes turns whose tokens continue each other, unless `begins` starts a new row. */
function journal() {
  const segments: Segment[] = [];
  const turns: Detail[] = [];
  let token = 0;
  const ids = (count: number) => Array.from({ length: count }, () => token++);
  return {
    segments,
    turns,
    add(action: string, more: Partial<Detail> & { after?: string | null; text?: string } = {}) {
      const { after = turns.at(-1)?.generated?.head ?? null, text = "read", ...rest } = more;
      const origin = after === null ? "prompt" : "observation";
      const appended: Segment = { previous: after, origin, text, tokens: ids(2) };
      const tokens = ids(3);
      const logprobs = tokens.map((_, at) => -0.5 - at);
      const previous = segmentRef(appended);
      const written: Segment = {
        previous,
        origin: "action",
        text: action,
        tokens,
        logprobs,
        policyVersion: 7,
      };
      segments.push(appended, written);
      const generated: Omit<GenerateTurnResult, "action"> = {
        finishReason: "stop",
        head: segmentRef(written),
        policyVersion: 7,
        tokens: { prompt: 2, action: 3, observation: 0 },
        seconds: 1,
        workSeconds: 1,
      };
      turns.push({ action, toolCalls: [], generated, ...rest });
      return generated.head;
    },
  };
}

function recordOf(turns: readonly Detail[], more: Partial<Trajectory> = {}): Trajectory {
  return {
    id,
    run: "run",
    stage: "step-0001",
    step: 1,
    sample: 2,
    taskId: "task-00001",
    task: {
      data_source: "sums",
      prompt: [
        { role: "system", content: "Add." },
        { role: "user", content: "1 + 2?" },
      ],
      reward_model: { ground_truth: "3" },
    },
    policyVersions: turns.map(() => 7),
    outcome: "answered",
    reward: 1,
    success: true,
    turns: turns.map(({ action, toolCalls }) => ({ action, toolCalls })),
    head: turns.at(-1)?.generated?.head ?? null,
    tokens: { prompt: 2, action: 3, observation: 0 },
    seconds: 2,
    ...more,
  };
}

function exported({ turns, segments }: ReturnType<typeof journal>, more: Partial<Trajectory> = {}) {
  const record = recordOf(turns, more);
  return atifTrajectory({ id, record, turns, segments, tokens: record.tokens }, record, settings);
}

test("each turn has all tokens that the policy read and wrote, with its log-probabilities", () => {
  const run = journal();
  run.add("Hm. <call>", { toolCalls: [call({})] });
  run.add("3");
  const { steps, final_metrics } = exported(run, { metrics: { format: 1 } });
  expect(steps.map(({ step_id, source, message }) => [step_id, source, message])).toEqual([
    [1, "system", "Add."],
    [2, "user", "1 + 2?"],
    [3, "agent", "Hm. "],
    [4, "agent", "3"],
  ]);
  expect(steps[2]).toMatchObject({ reasoning_content: "Hm.", llm_call_count: 1 });
  expect(steps[2]?.metrics).toMatchObject({ prompt_token_ids: [0, 1], completion_token_ids: [2, 3, 4] });
  expect(steps[3]?.metrics).toEqual({
    prompt_tokens: 7,
    completion_tokens: 3,
    prompt_token_ids: [0, 1, 2, 3, 4, 5, 6],
    completion_token_ids: [7, 8, 9],
    logprobs: [-0.5, -1.5, -2.5],
    extra: { policy_version: 7 },
  });
  expect(final_metrics).toEqual({
    total_prompt_tokens: 9,
    total_completion_tokens: 6,
    total_steps: 4,
    extra: { reward: 1, success: true, metrics: { format: 1 } },
  });
});

test("parallel, failed, unreadable and the loop's own calls, people's messages and images", () => {
  const run = journal();
  const frames = [image, { ...image, mediaType: "image/bmp" }];
  run.add("Look <call>", {
    said: [{ role: "user", content: "Hurry." }],
    toolCalls: [
      call({ attempts: 2, media: [{ type: "image", frames }] }),
      call({ tool: "", arguments: "{", observation: "unreadable", valid: false }),
      call({ observation: "no such sum", valid: false, invalid: "no such sum" }),
      call({ tool: "log", observation: "kept", byLoop: true }),
    ],
  });
  const { steps } = exported(run);
  expect(steps.slice(2)).toMatchObject([
    { source: "user", message: "Hurry." },
    {
      message: "Look <call>", // the unreadable call is only here
      tool_calls: [{ tool_call_id: "call_1_0", arguments: { of: [1, 2] } }, { tool_call_id: "call_1_2" }],
      observation: {
        results: [
          {
            source_call_id: "call_1_0",
            content: [
              { type: "text", text: "3" },
              { type: "image", source: { media_type: "image/png", path: `/run/bytes/${image.sha256}.bin` } },
            ],
            extra: { attempts: 2 },
          },
          { content: "unreadable", extra: { valid: false } },
          { source_call_id: "call_1_2", extra: { valid: false, invalid: "no such sum" } },
        ],
      },
    },
    {
      message: "",
      llm_call_count: 0,
      tool_calls: [{ tool_call_id: "loop_1_0", function_name: "log" }],
      observation: { results: [{ source_call_id: "loop_1_0", content: "kept" }] },
    },
  ]);
  const [, unreadable] = steps[3]?.observation?.results ?? [];
  expect(unreadable).not.toHaveProperty("source_call_id");
  expect(steps[4]).not.toHaveProperty("metrics");
});

test("the turns that a fork shares with its origin are copied context", () => {
  const run = journal();
  for (const action of ["a", "b", "c"]) run.add(action);
  const origin = { trajectory: "run/step-0001/task-00001/0", turns: 2, temperature: 1, seed: 1 };
  const { steps, extra } = exported(run, { origin });
  expect(steps.slice(2).map(({ is_copied_context }) => is_copied_context)).toEqual([true, true, undefined]);
  expect(extra).toMatchObject({
    everturn: { group: "run/step-0001/task-00001", sample: 2, origin: { turns: 2 } },
  });
});

test("each conversation of a sub-agent is a trajectory that an event refers to", () => {
  const run = journal();
  const draft = run.add("draft");
  const first = run.add("bad", { agent: "critic", after: null, text: "<user>Judge: draft" });
  const now = { role: "user" as const, content: "And now?" };
  run.add("worse", { agent: "critic", after: first, text: "<user>And now?", said: [now] });
  run.add("fine", { agent: "critic", after: null, text: "<user>Judge: draft" });
  run.add("done", { after: draft });
  const { steps, subagent_trajectories: subagents = [] } = exported(run);
  expect(steps.map(({ source, message }) => `${source}: ${message}`)).toEqual([
    "system: Add.",
    "user: 1 + 2?",
    "agent: draft",
    "system: The sub-agent critic begins.",
    "system: The sub-agent critic begins.",
    "agent: done",
  ]);
  expect(steps[3]?.observation?.results).toEqual([
    { subagent_trajectory_ref: [{ trajectory_id: `${id}/sub-agent-1` }] },
  ]);
  expect(subagents).toMatchObject([
    { trajectory_id: `${id}/sub-agent-1`, session_id: id, agent: { name: "critic" } },
    { trajectory_id: `${id}/sub-agent-2`, final_metrics: { total_steps: 2 } },
  ]);
  expect(subagents[0]?.steps.map(({ source, message }) => [source, message])).toEqual([
    ["user", "<user>Judge: draft"],
    ["agent", "bad"],
    ["user", "And now?"],
    ["agent", "worse"],
  ]);
  expect(subagents[0]?.agent).not.toHaveProperty("tool_definitions");
  expect(subagents[0]?.steps[3]?.metrics?.prompt_token_ids).toEqual([5, 6, 7, 8, 9, 10, 11]);
});

test("an endpoint that reveals no log-probabilities leaves no token ids", () => {
  const run = journal();
  run.add("3");
  for (const segment of run.segments) if (segment.logprobs !== undefined) segment.logprobs = [0, 0, 0];
  expect(exported(run).steps.flatMap(({ metrics = {} }) => Object.keys(metrics))).toEqual([]);
});
