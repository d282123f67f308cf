import { CancellationScope, sleep } from "@temporalio/workflow";
import { identified } from "../src/chat/formats/action-format.ts";
import { parseAction } from "../src/chat/formats/parse-action.ts";
import type { GenerateTurnResult } from "../src/contracts/activities.ts";
import type { Approval } from "../src/contracts/approval.ts";
import type {
  Action,
  AgentRequest,
  LoopContext,
  Observation,
  SubAgentOptions,
} from "../src/contracts/loop.ts";
import type { Message, SpokenMessage, ToolCall, ToolDefinition } from "../src/contracts/message.ts";
import type { ParsedCall, ReadAction } from "../src/contracts/parsed-action.ts";
import type {
  Outcome,
  ToolBinding,
  ToolCallRecord,
  TrajectoryInput,
  TurnRecord,
} from "../src/contracts/trajectory.ts";
import type { AgentSession, WaitingRequest } from "./agent-session.ts";
import { callSlots } from "./call-slots.ts";
import type { ChosenLoop } from "./chosen-loop.ts";
import { conversationOf, saidByOthers } from "./conversations.ts";
import { failure } from "./failure.ts";
import type { LiveOrders } from "./orders.ts";
import { schedule } from "./schedule.ts";
import { callToolActivity, checkQuestion, toolOf } from "./tool-activity.ts";
import type { TrajectoryEvent, TrajectoryState } from "./trajectory-state.ts";
import { isGeneratedHere, type TrajectoryTask } from "./trajectory-task.ts";
import { generateTurnInput } from "./turn-request.ts";
import type { TurnSpans } from "./turn-spans.ts";
import { turnTime } from "./turn-time.ts";

/** Characters that the observations of one turn may have together: they are sent as one payload, of 2 MiB at most. */
const observationLimit = 300_000;

/** A turn under way. */
export interface OpenTurn {
  number: number;
  /**
   * Has the agent loop take it: what the loop says, or "time-limit" when the turn has taken the time that it may. When
   * it fails, what it began and is under way is cancelled, and waited for.
   */
  take(): Promise<Outcome | "continue">;
  /** Whether a tool said that there is nothing more to do. */
  isDone(): boolean;
  /** Adds what came of it to the trajectory's state, and returns it. */
  close(): TurnRecord;
}

interface TurnOptions {
  loop: ChosenLoop;
  task: TrajectoryTask;
  spans: TurnSpans;
  orders: LiveOrders;
  session: AgentSession;
  /** Milliseconds of work that it may take. */
  bound?: number | undefined;
}

/** The trajectory's state, and what changes it. */
interface TurnState {
  now(): TrajectoryState;
  apply(event: TrajectoryEvent): void;
}

/** Opens the turn that follows the state; `onChange` is told after its action and after every observation. */
export function openTurn(
  input: TrajectoryInput,
  { now, apply }: TurnState,
  { loop, task, spans, orders, session, bound }: TurnOptions,
  onChange: (record: TurnRecord) => void,
): OpenTurn {
  const { place, queues } = input;
  const turn = now().progress.turns + 1;
  const record: TurnRecord = { action: "", toolCalls: [] };
  const slots = callSlots(record);
  const bindings = new Map(input.tools.map((tool) => [tool.definition.name, tool]));
  const offered = offeredBy(loop, input.tools);
  /** What a fork has of another trajectory. */
  const isCopied = turn <= (input.origin?.turns ?? 0);
  const underWay = new Set<Promise<unknown>>();
  let scope: CancellationScope | undefined;
  const time = turnTime(bound, () => scope?.cancel());
  const newest = new Map<string, Promise<unknown>>();
  let isAsked = false;
  let asked: WaitingRequest | undefined;
  let read: ReadAction | undefined;
  let room = observationLimit;

  /** Does a part of the turn within its span. */
  function part<T>(work: () => Promise<T>): Promise<T> {
    const doing = spans.within(work);
    underWay.add(doing);
    const settled = () => void underWay.delete(doing);
    doing.then(settled, settled);
    return doing;
  }

  function reserve(): { call: number; answer(call: ToolCallRecord): Observation } {
    const { call, fill } = slots.take();
    const answer = (done: ToolCallRecord) => {
      fill(done);
      onChange(record);
      const { tool, observation: text, valid } = done;
      return { tool, text, valid, ...(done.done === undefined ? {} : { done: done.done }) };
    };
    return { call, answer };
  }

  function misused(count: string): Error {
    return failure("LOOP_TURN_INVALID", { loop: loop.plugin, turn, count });
  }

  function refuse(tool: string, written: ToolCallRecord["arguments"], observation: string): Observation {
    const { call, answer } = reserve();
    apply({ type: "refused", call: { turn, call, tool, arguments: written, observation } });
    return answer({ tool, arguments: written, observation, valid: false, attempts: 0 });
  }

  const context: LoopContext = {
    turn,
    tools: offered,
    config: loop.config,
    state: now().progress.loopState,
    task: task.read,
    nextRequest: async () => {
      asked = await session.next();
      return asked?.request;
    },
    generate: (request) => generated(request),
    agent: (name, options) => ({
      generate: () => generated(undefined, { name, ...options }),
      append: (observations) => append(observations, name),
      say: (content) => apply({ type: "observed", messages: [{ role: "user", content }], agent: name }),
    }),
    parse: ({ text }) => {
      const { toolCalls: callsBefore } = now().progress;
      if (read !== undefined) return identified(read, callsBefore);
      const { format } = input;
      return parseAction(text, {
        tools: offered,
        callsBefore,
        ...(format === undefined ? {} : { format }),
      });
    },
    callTool: (call) => {
      const binding = bindings.get(call.name);
      const names = offered.map(({ name }) => name);
      return binding === undefined || !names.includes(call.name)
        ? Promise.resolve(refuse(call.name, call.arguments, unknownTool(call.name, names)))
        : called(binding, call);
    },
    useTool: async (name, parameters) => {
      const binding = bindings.get(name);
      if (binding === undefined) throw failure("LOOP_TOOL_MISSING", { loop: loop.plugin, tool: name });
      return called(binding, { name, arguments: parameters }, { byLoop: true });
    },
    sleep: async (milliseconds) => {
      if (!isCopied) await part(() => sleep(milliseconds));
    },
    reject: (call, reason) => refuse("", call, reason),
    append: (observations) => append(observations),
    say: (content) => apply({ type: "told", message: { role: "user", content } }),
  };

  async function generated(
    request: AgentRequest | undefined,
    agent?: SubAgentOptions & { name: string },
  ): Promise<Action> {
    const answering = request === undefined ? undefined : asked;
    if (answering?.request !== request) throw misused("an action for another turn's request");
    for (const call of answering?.request.answered ?? [])
      apply({ type: "refused", call: { ...call, valid: true } });
    if (isAsked) throw misused("a second action");
    isAsked = true;
    const { head, pending } = conversationOf(now().progress, agent?.name);
    const said = agent === undefined ? sayings() : toldTo(pending, head === null ? agent.prompt : []);
    if (said.length > 0) record.said = said;
    if (agent !== undefined) record.agent = agent.name;
    const options = {
      summary: [`turn ${turn}`, ...(agent === undefined ? [] : [agent.name])].join(": "),
      isQuick: input.quickTurns || isCopied,
    };
    spans.begin(turn);
    const isPrompted = answering === undefined && agent === undefined && head === null;
    const first = isPrompted ? await task.given(isGeneratedHere(input)) : undefined;
    const result = await part(() =>
      time.within("generate-turn", (timeLimit) => {
        const wanted = agent?.tools;
        const own = wanted === undefined ? offered : offeredBy({ tools: wanted }, input.tools);
        const { request: asked } = answering ?? {};
        const request = generateTurnInput(input, now().progress, {
          said,
          first,
          timeLimit,
          offered: own,
          agent,
          asked,
        });
        return schedule(queues, "generate-turn", request, options);
      }),
    );
    if (result.prompt !== undefined) task.onPrompt(result.prompt);
    apply({ type: "generated", turn, result, agent: agent?.name });
    record.action = result.action;
    read = result.read;
    onChange(record);
    if (answering !== undefined) answered(answering, result);
    return { text: result.action, finishReason: result.finishReason };
  }

  /** What people said, before an action in the conversation with the task's user. */
  function sayings(): SpokenMessage[] {
    const { messages } = now().orders;
    const isFirstOwn = turn === (input.origin?.turns ?? 0) + 1;
    const own = saidByOthers((isFirstOwn ? input.said : undefined) ?? [], messages);
    const said = [...own, ...messages];
    apply({ type: "said", own });
    return said;
  }

  function append(observations: readonly Observation[], agent?: string): void {
    for (const { tool, text } of observations) {
      const cut = text.length - room;
      const content = cut <= 0 ? text : `${text.slice(0, room)}\n[${cut} characters cut]`;
      room = Math.max(0, -cut);
      apply({ type: "observed", messages: [{ role: "tool", name: tool, content }], agent });
    }
  }

  /** Makes a call: the policy's, or the loop's own. */
  async function called(
    binding: ToolBinding,
    call: ToolCall,
    whose: { byLoop?: true } = {},
  ): Promise<Observation> {
    const tool = toolOf(binding);
    const slot = reserve();
    const isAsked = needsPerson(binding);
    if (isAsked && binding.person === true) {
      const request = { place, turn, call: slot.call, arguments: call.arguments, ...whose };
      const onHolder = () => {};
      const wrong = await part(() =>
        checkQuestion(binding, request, { queues, holder: undefined, onHolder }),
      );
      if (wrong !== undefined) {
        const { observation, valid, attempts } = wrong;
        return slot.answer({
          tool: call.name,
          arguments: call.arguments,
          observation,
          valid,
          attempts,
          ...whose,
        });
      }
    }
    const approval = isAsked ? await part(() => askPerson(binding, call, slot.call)) : undefined;
    if (approval !== undefined && "reason" in approval)
      return slot.answer({ ...denied(call, slot.call, approval, whose), ...whose });
    const decided = approval === undefined ? {} : { approval: approval.decision };
    const answer = approval?.decision === "answered" ? { answer: approval.answer } : {};
    const made = { ...call, arguments: approval?.arguments ?? call.arguments };
    apply({ type: "called", tool: call.name });
    const { recordings } = binding;
    const needsTask = binding.stateful || recordings !== undefined;
    const request = {
      place,
      turn,
      call: slot.call,
      arguments: made.arguments,
      ...(needsTask ? { task: await task.read() } : {}),
      ...(recordings === undefined ? {} : { recordings }),
      ...decided,
      ...answer,
      ...whose,
    };
    const { observation, valid, attempts, invalid, done } = await part(() =>
      inOrder(binding, () => {
        const { toolsHolding, holders } = now().progress;
        const continues = toolsHolding.includes(tool) ? { continues: true } : {};
        const held = {
          holder: holders?.[tool],
          onHolder: (queue: string) => apply({ type: "held", tool, queue }),
        };
        return time.within(call.name, (limit) => {
          const timeLimit = limit === undefined ? {} : { timeLimit: limit };
          const asked = { ...request, ...continues, ...timeLimit };
          return callToolActivity(binding, asked, { queues, ...held, isRecorded: isCopied });
        });
      }),
    );
    const isAnswered = valid || invalid !== undefined;
    if (binding.stateful && isAnswered) apply({ type: "holds", tool });
    return slot.answer({
      tool: call.name,
      arguments: made.arguments,
      observation,
      valid,
      attempts,
      ...(done === undefined ? {} : { done }),
      ...decided,
      ...whose,
    });
  }

  /** Has the agent told its action, whose calls it makes itself: what came of them comes with a later request. */
  function answered(
    { request, answer }: WaitingRequest,
    { action, finishReason, head, tokens, read }: GenerateTurnResult,
  ): void {
    const { calls } = context.parse({ text: action, finishReason });
    for (const call of request.takesCalls === false ? [] : calls) {
      slots.take().fill({ ...told(call), attempts: 0 });
    }
    const { prompt, observation, action: own } = tokens;
    answer({
      turn,
      head,
      action,
      finishReason,
      tokens: { prompt: prompt + observation, action: own },
      ...(read === undefined ? {} : { read }),
    });
  }

  /** What a fork has of another trajectory was decided there; what is recorded was answered before. */
  function needsPerson({ approval, person, recordings }: ToolBinding): boolean {
    const isRecorded = person === true && recordings !== undefined;
    return approval !== undefined && !isRecorded && !isCopied;
  }

  function askPerson({ approval, person }: ToolBinding, call: ToolCall, number: number): Promise<Approval> {
    const asked = {
      call: `${turn}/${number}`,
      tool: call.name,
      arguments: call.arguments,
      ...(person === true ? { isQuestion: person } : {}),
      ...(approval?.whom === undefined ? {} : { whom: approval.whom }),
    };
    return orders.approval(asked, approval?.timeout);
  }

  /** The call was right, but a person did not want it. */
  function denied(
    { name, arguments: given }: ToolCall,
    call: number,
    { decision, reason }: Extract<Approval, { reason: string }>,
    whose: { byLoop?: true },
  ): ToolCallRecord {
    const refused = { tool: name, arguments: given, observation: reason, approval: decision, ...whose };
    apply({ type: "refused", call: { turn, call, ...refused } });
    return { ...refused, valid: true, attempts: 0 };
  }

  /** Calls of a tool with state are made one after the other. */
  async function inOrder<T>(binding: ToolBinding, work: () => Promise<T>): Promise<T> {
    if (binding.recovery === undefined) return work();
    const tool = toolOf(binding);
    const before = newest.get(tool);
    const doing = before === undefined ? work() : before.then(work);
    newest.set(tool, doing);
    return doing;
  }

  async function take(): Promise<Outcome | "continue"> {
    scope = new CancellationScope();
    try {
      const ended = await scope.run(() => loop.take(context));
      if (!time.isOver()) return ended;
    } catch (error) {
      if (underWay.size > 0) {
        scope.cancel();
        await settled();
      }
      if (!time.isOver()) throw error;
    }
    await settled();
    return "time-limit";
  }

  async function settled(): Promise<void> {
    await Promise.allSettled(underWay);
  }

  return {
    number: turn,
    take,
    isDone: () => record.toolCalls.some(({ done = false }) => done),
    close: () => {
      const { state: loopState } = context;
      const invalidLimit = input.limits.invalidCalls;
      const ended = { record, calls: slots.taken(), workedMs: time.worked(), loopState, invalidLimit };
      apply({ type: "turn-ended", turn, ended });
      return record;
    },
  };
}

/** A call of an action that an agent is told, or what is wrong with it, which the agent sees as text. */
function told(call: ParsedCall): Pick<ToolCallRecord, "tool" | "arguments" | "observation" | "valid"> {
  if (call.problem !== undefined)
    return { tool: "", arguments: call.text, observation: call.problem, valid: false };
  return { tool: call.name, arguments: call.arguments, observation: "", valid: true };
}

/** What the policy may call. */
function offeredBy(
  { tools: named }: Pick<ChosenLoop, "tools">,
  tools: readonly ToolBinding[],
): ToolDefinition[] {
  const those = tools.filter(
    ({ definition, forLoops = false }) => named?.includes(definition.name) ?? !forLoops,
  );
  return those.map(({ definition }) => definition);
}

/** What a sub-agent is told before its next action, observations aside. */
function toldTo(pending: readonly Message[], prompt: readonly SpokenMessage[]): SpokenMessage[] {
  const said = pending.flatMap(({ role, content }) => (role === "user" ? [{ role, content }] : []));
  return [...prompt, ...said];
}

function unknownTool(name: string, available: string[]): string {
  const list = available.length > 0 ? `Available tools: ${available.join(", ")}.` : "No tools are available.";
  return `error: there is no tool ${name}. ${list}`;
}
