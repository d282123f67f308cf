import { defined } from "../src/base/records/defined.ts";
import { identified } from "../src/chat/formats/action-format.ts";
import { parseAction } from "../src/chat/formats/parse-action.ts";
import type { GenerateTurnResult } from "../src/contracts/generate-turn.ts";
import type { Call } from "../src/contracts/generated/trajectory.ts";
import type { Action, AgentRequest } from "../src/contracts/loop.ts";
import type { SpokenMessage } from "../src/contracts/message.ts";
import type { ParsedAction, ParsedCall } from "../src/contracts/parsed-action.ts";
import type { WaitingRequest } from "./agent-session.ts";
import { conversationOf, saidByOthers } from "./conversations.ts";
import { schedule } from "./schedule.ts";
import { isGeneratedHere } from "./trajectory-task.ts";
import { type LiveTurn, loopMisused, offeredTools, track } from "./turn.ts";
import { generateTurnInput, type NamedSubAgent } from "./turn-request.ts";

/**
 * Generates the turn's action: the answer to a request of the trajectory's agent, or the next action in the
 * conversation with a sub-agent or with the task's user. Throws LOOP_TURN_INVALID.
 */
export async function askPolicy(
  turn: LiveTurn,
  request: AgentRequest | undefined,
  subAgent?: NamedSubAgent,
): Promise<Action> {
  const { input, trajectory, task, state } = turn;
  const waiting = request === undefined ? undefined : state.request;
  if (waiting?.request !== request) throw loopMisused(turn, "an action for another turn's request");
  for (const call of waiting?.request.answered ?? []) {
    trajectory.apply({ type: "refused", call: { ...call, valid: true } });
  }
  if (state.hasAction) throw loopMisused(turn, "a second action");
  state.hasAction = true;
  const said = subAgent === undefined ? takeMessages(turn) : messagesTo(turn, subAgent);
  if (said.length > 0) state.record.said = said;
  if (subAgent !== undefined) state.record.agent = subAgent.name;
  turn.spans.begin(turn.number);
  const { head } = conversationOf(trajectory.now().progress, subAgent?.name);
  const beginsTask = waiting === undefined && subAgent === undefined && head === null;
  const givenTask = beginsTask ? await task.given(isGeneratedHere(input)) : undefined;
  const tools = subAgent?.tools === undefined ? turn.tools : offeredTools(input.tools, subAgent.tools);
  const result = await track(turn, () =>
    turn.time.within("generate-turn", (timeLimit) =>
      schedule(
        input.queues,
        "generate-turn",
        generateTurnInput(input, trajectory.now().progress, {
          request: waiting?.request,
          subAgent,
          givenTask,
          said,
          tools,
          timeLimit,
        }),
        {
          summary: [`turn ${turn.number}`, ...(subAgent === undefined ? [] : [subAgent.name])].join(": "),
          isQuick: input.quickTurns || turn.isCopied,
        },
      ),
    ),
  );
  if (result.prompt !== undefined) task.onPrompt(result.prompt);
  trajectory.apply({ type: "generated", turn: turn.number, result, agent: subAgent?.name });
  state.record.action = result.action;
  state.readAction = result.read;
  turn.onChange(state.record);
  if (waiting !== undefined) answerAgent(turn, waiting, result);
  return { text: result.action, finishReason: result.finishReason };
}

/** Parses an action of the turn into the policy's reasoning, text and calls. */
export function parseTurnAction({ input, trajectory, tools, state }: LiveTurn, text: string): ParsedAction {
  const { toolCalls: callsBefore } = trajectory.now().progress;
  if (state.readAction !== undefined) return identified(state.readAction, callsBefore);
  const { format } = input;
  return parseAction(text, defined({ tools, callsBefore, format }));
}

/**
 * Takes people's messages since the last action. The first turn that a fork generates itself also takes the
 * messages to the original.
 */
function takeMessages({ input, trajectory, number }: LiveTurn): SpokenMessage[] {
  const { messages } = trajectory.now().orders;
  const isFirstOwn = number === (input.origin?.turns ?? 0) + 1;
  const own = saidByOthers((isFirstOwn ? input.said : undefined) ?? [], messages);
  trajectory.apply({ type: "said", own });
  return [...own, ...messages];
}

/**
 * The messages before a sub-agent's next action, without observations: its prompt before the first action,
 * and the messages to it.
 */
function messagesTo({ trajectory }: LiveTurn, { name, prompt }: NamedSubAgent): SpokenMessage[] {
  const { head, pending } = conversationOf(trajectory.now().progress, name);
  const said = pending.flatMap(({ role, content }) => (role === "user" ? [{ role, content }] : []));
  return head === null ? [...prompt, ...said] : said;
}

/**
 * Answers the agent's request with the action, or the other request for which an earlier attempt recorded it. The
 * agent makes the calls itself and sends their results with
 * a later request. Until then the calls are recorded without a result.
 */
function answerAgent(
  turn: LiveTurn,
  { request, answer }: WaitingRequest,
  { action, finishReason, head, tokens, read, answered = request }: GenerateTurnResult,
): void {
  const { calls } = parseTurnAction(turn, action);
  for (const call of answered.takesCalls === false ? [] : calls) {
    turn.state.slots.take().fill({ ...recordOf(call), attempts: 0 });
  }
  answer(answered.key, {
    turn: turn.number,
    head,
    action,
    finishReason,
    tokens: { prompt: tokens.prompt + tokens.observation, action: tokens.action },
    read,
  });
}

/** Records a call that the agent makes itself. An unreadable call has its problem as observation. */
function recordOf(call: ParsedCall): Pick<Call, "tool" | "arguments" | "observation" | "valid"> {
  if (call.problem !== undefined) {
    return { tool: "", arguments: call.text, observation: call.problem, valid: false };
  }
  return { tool: call.name, arguments: call.arguments, observation: "", valid: true };
}
