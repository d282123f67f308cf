import { scheduleActivity, scheduleLocalActivity } from "@temporalio/workflow";
import type { CallToolInput, CallToolResult } from "../src/contracts/activities.ts";
import type { LoopContext, Observation } from "../src/contracts/loop.ts";
import type { Message, ToolCall } from "../src/contracts/message.ts";
import type {
  SegmentRef,
  TokenCounts,
  ToolBinding,
  ToolCallRecord,
  TrajectoryInput,
  TurnRecord,
} from "../src/contracts/trajectory.ts";
import { callSlots } from "./call-slots.ts";
import { isServedHere, schedule } from "./schedule.ts";
import { summary } from "./transcript.ts";
import { turnSpans } from "./turn-spans.ts";

/** A trajectory under way: what its agent loop may do, and what has come of it. */
export interface OpenTrajectory {
  context: LoopContext;
  turns: TurnRecord[];
  state(): { turns: TurnRecord[]; head: SegmentRef | null; tokens: TokenCounts; toolReward: number };
  /** What the tools of each turn gave. */
  turnRewards(): number[];
  /** Time that generating took, all turns together. */
  generationSeconds(): number;
  /** Releases the tools that hold state for this trajectory. */
  release(): Promise<void>;
}

/** Opens a trajectory; `onTurn` is told after every action and observation. */
export function openTrajectory(
  input: TrajectoryInput,
  onTurn: (turns: TurnRecord[]) => void,
): OpenTrajectory {
  const { place, task, queues } = input;
  const turns: TurnRecord[] = [];
  const tokens: TokenCounts = { prompt: 0, action: 0, observation: 0 };
  const used = new Set<string>();
  const bindings = new Map(input.tools.map((tool) => [tool.definition.name, tool]));
  const definitions = input.tools.map((tool) => tool.definition);
  const spans = turnSpans();
  let slots = callSlots({ action: "", toolCalls: [] });
  let pending: Message[] = task.prompt;
  let head: SegmentRef | null = null;
  let seconds = 0;
  const turnRewards: number[] = [];

  function reserve(): { turn: number; call: number; record(call: ToolCallRecord): Observation } {
    const { call, fill } = slots.take();
    const record = (done: ToolCallRecord) => {
      fill(done);
      onTurn(turns);
      return { tool: done.tool, text: done.observation, valid: done.valid };
    };
    return { turn: turns.length, call, record };
  }

  const context: LoopContext = {
    task,
    tools: definitions,
    config: input.loop.config,
    generate: async () => {
      const turn = turns.length + 1;
      const { policyVersion, sampling, seed } = input;
      const request = { place, turn, policyVersion, head, messages: pending, sampling, seed };
      const first = turn === 1 ? { tools: definitions } : {};
      const generateTurn = { ...request, ...first };
      spans.begin(turn);
      const options = { summary: `turn ${turn}`, isQuick: input.quickTurns ?? false };
      const result = await spans.within(() => schedule(queues, "generate-turn", generateTurn, options));
      pending = [];
      head = result.head;
      seconds += result.seconds;
      tokens.prompt += result.tokens.prompt;
      tokens.action += result.tokens.action;
      tokens.observation += result.tokens.observation;
      const done: TurnRecord = { action: result.action, toolCalls: [] };
      slots = callSlots(done);
      turns.push(done);
      turnRewards.push(0);
      onTurn(turns);
      return { text: result.action, finishReason: result.finishReason };
    },
    callTool: async (call) => {
      const slot = reserve();
      const binding = bindings.get(call.name);
      if (binding === undefined) {
        return slot.record(refused(call.name, call.arguments, unknownTool(call.name, [...bindings.keys()])));
      }
      const executed = turns.flatMap((turn) => turn.toolCalls.filter((done) => done.valid));
      const continues = binding.stateful && executed.some((done) => done.tool === call.name);
      used.add(call.name);
      const request = {
        ...{ place, task, turn: slot.turn, call: slot.call, arguments: call.arguments },
        ...(continues ? { continues } : {}),
      };
      const { observation, valid, attempts, reward } = await spans.within(() =>
        callTool(binding, call, request),
      );
      turnRewards[slot.turn - 1] = (turnRewards[slot.turn - 1] ?? 0) + reward;
      return slot.record({ tool: call.name, arguments: call.arguments, observation, valid, attempts });
    },
    reject: (call, reason) => reserve().record(refused("", call, reason)),
    append: (observations) => {
      pending = observations.map(({ tool, text }) => ({ role: "tool", name: tool, content: text }));
    },
  };

  function callTool(binding: ToolBinding, call: ToolCall, request: CallToolInput): Promise<CallToolResult> {
    const options = {
      startToCloseTimeout: binding.timeout,
      retry: binding.retry,
      summary: summary(JSON.stringify(call.arguments)),
    };
    if (binding.pure === true && isServedHere("tools", queues)) {
      return scheduleLocalActivity<CallToolResult>(call.name, [request], options);
    }
    return scheduleActivity<CallToolResult>(call.name, [request], {
      ...options,
      taskQueue: queues.tools,
      heartbeatTimeout: Math.min(binding.timeout, 10_000),
    });
  }

  return {
    context,
    turns,
    state: () => ({ turns, head, tokens, toolReward: sum(turnRewards) }),
    turnRewards: () => turnRewards,
    generationSeconds: () => seconds,
    release: async () => {
      spans.end();
      const stateful = [...used].filter((tool) => bindings.get(tool)?.stateful);
      if (stateful.length > 0) await schedule(queues, "release-tools", { place, tools: stateful });
    },
  };
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function refused(tool: string, call: ToolCallRecord["arguments"], observation: string): ToolCallRecord {
  return { tool, arguments: call, observation, valid: false, attempts: 0 };
}

function unknownTool(name: string, available: string[]): string {
  const list = available.length > 0 ? `Available tools: ${available.join(", ")}.` : "No tools are available.";
  return `error: there is no tool ${name}. ${list}`;
}
