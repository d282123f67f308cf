import { createUniformStream } from "../../src/base/random/uniform-stream.ts";
import { defined } from "../../src/base/records/defined.ts";
import type { Task } from "../../src/contracts/generated/task.ts";
import type { Call, Turn } from "../../src/contracts/generated/trajectory.ts";
import type { ToolDefinition } from "../../src/contracts/message.ts";
import type { SegmentRef, TrajectoryPlace, TrajectoryResult } from "../../src/contracts/trajectory.ts";
import type { Framing } from "../../src/engine/tokens/framing.ts";
import type { Tokenizer } from "../../src/engine/tokens/tokenizer.ts";
import type { OpenRun } from "../../src/run/folder/open-runs.ts";
import { segmentRef } from "../../src/run/projections/segment-ref.ts";
import { type Ending, trajectoryRecord } from "../../src/run/projections/trajectory-record.ts";
import { callKey, leftOutKey, trajectoryKey } from "../../src/run/store/keys.ts";

import { writeTurn } from "./written-turn.ts";

/** How a sample trajectory goes. `noise` is an untrained policy; `call` and `guess` answer. */
export type Course = "call" | "guess" | "noise" | "unreadable" | "retried" | "left-out" | "under way";

/** A trajectory to write into a sample run. */
export interface SampleTrajectory {
  place: TrajectoryPlace;
  task: Task;
  policyVersion: number;
  course: Course;
}

const startedAt = Date.UTC(2025, 10, 21, 6, 0, 0);

/** Writes a trajectory's journal, segments and record as the activities do; what the workflow would return. */
export async function writeTrajectory(
  run: OpenRun,
  { tokenizer, framing }: { tokenizer: Tokenizer; framing: Framing },
  { place, task, policyVersion, course }: SampleTrajectory,
): Promise<TrajectoryResult> {
  const uniform = createUniformStream({
    seed: 1,
    trajectory: `${place.stage}/${place.task}`,
    turn: place.sample,
  });
  const tokens = { prompt: 0, action: 0, observation: 0 };
  const turns: Turn[] = [];
  let head: SegmentRef | null = null;
  let drawn = 0;

  async function act(added: { text: string; tokens: number[] }, action: string): Promise<void> {
    const origin = head === null ? ("prompt" as const) : ("observation" as const);
    const appended = { previous: head, origin, ...added };
    const previous = segmentRef(appended);
    const ids = tokenizer.encode(`${action}${tokenizer.endOfTurn.text}`);
    const logprobs = ids.map(() => -uniform(drawn++) / 4);
    const counts = { prompt: 0, observation: 0, action: ids.length, [origin]: added.tokens.length };
    tokens.prompt += counts.prompt;
    tokens.action += counts.action;
    tokens.observation += counts.observation;
    const callsBefore = turns.at(-1)?.toolCalls.length ?? 0;
    turns.push({ action, toolCalls: [] });
    const written = {
      previous,
      origin: "action",
      text: action,
      tokens: ids,
      logprobs,
      policyVersion,
    } as const;
    head = await writeTurn(run.store, place, turns.length, [appended, written], { callsBefore });
  }

  async function answer(call: Call): Promise<void> {
    const { observation, valid, attempts } = call;
    turns.at(-1)?.toolCalls.push(call);
    const result = {
      tool: call.tool,
      arguments: call.arguments,
      observation,
      valid,
      reward: 0,
      attempts,
      seconds: 0.01,
    };
    await run.store.record(callKey(place, turns.length, 0), result);
  }

  const truth = task.reward_model.ground_truth;
  const expression = String(task.extra_info?.expression);
  const prompt = framing.framePrompt(task.prompt, toolsOf(run));
  const argument = { expression };
  const written = `<tool_call>{"name": "calculator", "arguments": {"expression": "${expression}"}}</tool_call>`;
  let said = `Answer: ${Number(truth) + Math.round((uniform(drawn++) - 0.4) * 9)}`;
  if (course === "guess" || course === "noise") {
    if (course === "noise") said = '=\nthe7 problemSt<tool_response> - {"9</tool_call>:expression final"}}';
    await act(prompt, said);
  } else if (course === "unreadable") {
    await act(prompt, "<tool_call>calculator(1 +)</tool_call>");
    const observation = "error: the tool call is not JSON.";
    await answer({ tool: "", arguments: "calculator(1 +)", observation, valid: false, attempts: 0 });
    await act(framing.frameObservation([{ role: "tool", content: observation }]), said);
  } else {
    await act(prompt, written);
    if (course === "call" || course === "retried") {
      const attempts = course === "retried" ? 3 : 1;
      await answer({ tool: "calculator", arguments: argument, observation: truth, valid: true, attempts });
      said = `Answer: ${truth}`;
      await act(framing.frameObservation([{ role: "tool", name: "calculator", content: truth }]), said);
    }
  }
  const success = course !== "left-out" && said === `Answer: ${truth}`;
  const endings = { "left-out": "left-out", noise: "token-limit" } as const;
  const outcome = course === "left-out" || course === "noise" ? endings[course] : ("answered" as const);
  const failure = course === "left-out" ? { failure: "calculator: TOOL_FAILED: the host is down" } : {};
  const ending = defined<Ending>({
    outcome,
    reward: Number(success),
    success,
    answer: outcome === "answered" ? said : undefined,
  });
  if (course !== "under way") {
    const key = outcome === "left-out" ? leftOutKey(place, 1) : trajectoryKey(place);
    await run.store.record(key, {
      ...trajectoryRecord(
        { place, task, head, tokens, startedAt },
        { turns, policyVersions: turns.map(() => policyVersion) },
        { ...ending, ...failure },
      ),
      seconds: turns.length * 0.2,
    });
  }
  const calls = turns.flatMap((turn) => turn.toolCalls);
  return {
    trajectory: place.id,
    task: task.prompt.at(-1)?.content ?? "",
    turns,
    head,
    policyVersion,
    tokens,
    turnCount: turns.length,
    newestPolicyVersion: policyVersion,
    outcome,
    reward: ending.reward,
    success,
    ...failure,
    generationSeconds: turns.length * 0.1,
    toolCalls: calls.length,
    validCalls: calls.filter((call) => call.valid).length,
  };
}

function toolsOf({ plan }: OpenRun): ToolDefinition[] {
  return plan.tools.flatMap(({ manifest: { tool } }) =>
    tool?.parameters === undefined
      ? []
      : [{ ...tool, description: tool.description ?? "", parameters: tool.parameters }],
  );
}
