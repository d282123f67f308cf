import { sleep } from "@temporalio/workflow";
import type { LoopContext, Observation } from "../src/contracts/loop.ts";
import { askPolicy, parseTurnAction } from "./ask-policy.ts";
import { failure } from "./failure.ts";
import { makeCall } from "./make-call.ts";
import { type LiveTurn, refuseCall, track } from "./turn.ts";

/** The operations of an agent loop in a turn. */
export function loopContext(turn: LiveTurn): LoopContext {
  const { input, trajectory, loop, task, session, tools, state } = turn;
  const bindings = new Map(input.tools.map((binding) => [binding.definition.name, binding]));
  return {
    turn: turn.number,
    tools,
    config: loop.config,
    state: trajectory.now().progress.loopState,
    task: task.read,
    nextRequest: async () => {
      state.request = await session.next(loop, trajectory.now().progress.turns);
      return state.request?.request;
    },
    generate: (request) => askPolicy(turn, request),
    agent: (name, options) => ({
      generate: () => askPolicy(turn, undefined, { name, ...options }),
      append: (observations) => append(turn, observations, name),
      say: (content) =>
        trajectory.apply({ type: "observed", messages: [{ role: "user", content }], agent: name }),
    }),
    parse: ({ text }) => parseTurnAction(turn, text),
    callTool: (call) => {
      const binding = bindings.get(call.name);
      const names = tools.map(({ name }) => name);
      if (binding !== undefined && names.includes(call.name)) return makeCall(turn, binding, call);
      const observation = unknownTool(call.name, names);
      return Promise.resolve(refuseCall(turn, { tool: call.name, arguments: call.arguments, observation }));
    },
    useTool: async (name, parameters) => {
      const binding = bindings.get(name);
      if (binding === undefined) throw failure("LOOP_TOOL_MISSING", { loop: loop.plugin, tool: name });
      return makeCall(turn, binding, { name, arguments: parameters }, { byLoop: true });
    },
    sleep: async (milliseconds) => {
      if (!turn.isCopied) await track(turn, () => sleep(milliseconds));
    },
    reject: (call, reason) => refuseCall(turn, { tool: "", arguments: call, observation: reason }),
    append: (observations) => append(turn, observations),
    say: (content) => trajectory.apply({ type: "told", message: { role: "user", content } }),
  };
}

/** Appends observations to a conversation, within the turn's remaining characters for them. */
function append({ trajectory, state }: LiveTurn, observations: readonly Observation[], agent?: string): void {
  for (const { tool, text } of observations) {
    const room = state.observationRoom;
    const excess = text.length - room;
    const content = excess <= 0 ? text : `${text.slice(0, room)}\n[${excess} characters cut]`;
    state.observationRoom = Math.max(0, -excess);
    trajectory.apply({ type: "observed", messages: [{ role: "tool", name: tool, content }], agent });
  }
}

function unknownTool(name: string, available: string[]): string {
  const list = available.length > 0 ? `Available tools: ${available.join(", ")}.` : "No tools are available.";
  return `error: there is no tool ${name}. ${list}`;
}
