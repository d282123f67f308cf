import { defined } from "../src/base/records/defined.ts";
import type { CallToolInput, CallToolResult } from "../src/contracts/activities.ts";
import type { Observation } from "../src/contracts/loop.ts";
import type { ToolCall } from "../src/contracts/message.ts";
import type { ToolBinding } from "../src/contracts/trajectory.ts";
import { askPerson, denyCall, isDenial, needsPerson, questionProblem, type Wanted } from "./ask-person.ts";
import { callToolActivity, toolOf } from "./tool-activity.ts";
import { type LiveTurn, openCall, track } from "./turn.ts";

/** The input of the activity that calls a tool. */
type ToolRequest = CallToolInput & { isUnasked?: never };

/** Makes a call of the policy or of the loop. A call that needs a person's decision waits for it. */
export async function makeCall(
  turn: LiveTurn,
  binding: ToolBinding,
  call: ToolCall,
  caller: Wanted["caller"] = {},
): Promise<Observation> {
  const { number, answer } = openCall(turn);
  const wanted = { binding, call, number, caller };
  const isForPerson = needsPerson(turn, binding);
  const problem =
    isForPerson && binding.person === true
      ? await track(turn, () => questionProblem(turn, wanted))
      : undefined;
  if (problem !== undefined) {
    const { observation, valid, attempts } = problem;
    return answer({ tool: call.name, arguments: call.arguments, observation, valid, attempts, ...caller });
  }
  const approval = isForPerson ? await track(turn, () => askPerson(turn, wanted)) : undefined;
  if (approval !== undefined && isDenial(approval)) return answer(denyCall(turn, wanted, approval));
  turn.trajectory.apply({ type: "called", tool: call.name });
  const needsTask = binding.stateful || binding.recordings !== undefined;
  const request: ToolRequest = {
    place: turn.input.place,
    turn: turn.number,
    call: number,
    task: needsTask ? await turn.task.read() : undefined,
    arguments: approval?.arguments ?? call.arguments,
    recordings: binding.recordings,
    approval: approval?.decision,
    answer: approval?.decision === "answered" ? approval.answer : undefined,
    byLoop: caller.byLoop,
  };
  const result = await track(turn, () => inOrder(turn, binding, () => callTool(turn, binding, request)));
  const { observation, valid, attempts, invalid, done } = result;
  const isAnswered = valid || invalid !== undefined;
  if (binding.stateful && isAnswered) turn.trajectory.apply({ type: "holds", tool: toolOf(binding) });
  return answer(
    defined({
      tool: call.name,
      arguments: request.arguments,
      observation,
      valid,
      attempts,
      done,
      approval: approval?.decision,
      ...caller,
    }),
  );
}

/** Calls the tool at the worker that holds its state, within the remaining time. */
function callTool(
  { input: { queues }, trajectory, time, isCopied }: LiveTurn,
  binding: ToolBinding,
  request: ToolRequest,
): Promise<CallToolResult> {
  const tool = toolOf(binding);
  const { toolsHolding, holders } = trajectory.now().progress;
  const activity = {
    queues,
    holder: holders?.[tool],
    onHolder: (queue: string) => trajectory.apply({ type: "held", tool, queue }),
    isRecorded: isCopied,
  };
  return time.within(binding.definition.name, (limit) =>
    callToolActivity(
      binding,
      {
        ...request,
        continues: toolsHolding.includes(tool) ? true : undefined,
        timeLimit: limit,
      },
      activity,
    ),
  );
}

/** Makes the calls of a stateful tool one after the other. */
async function inOrder<Result>(
  { state: { newestCalls } }: LiveTurn,
  binding: ToolBinding,
  work: () => Promise<Result>,
): Promise<Result> {
  if (binding.recovery === undefined) return work();
  const tool = toolOf(binding);
  const before = newestCalls.get(tool);
  const doing = before === undefined ? work() : before.then(work);
  newestCalls.set(tool, doing);
  return doing;
}
