import type { AgentLoop } from "everturn/plugin";
import { parseToolCalls } from "./parse-tool-calls.ts";

/**
 * Generates until an action calls no tool. Calls of one action run in parallel; a call that can't be read is
 * answered with an observation that says why.
 */
const toolAgent: AgentLoop = async (context) => {
  const maxTurns = Number(context.config.maxTurns);
  for (let turn = 1; ; turn++) {
    const action = await context.generate();
    if (action.finishReason === "length") return "token-limit";
    const calls = parseToolCalls(action.text);
    if (calls.length === 0) return "answered";
    if (turn === maxTurns) return "turn-limit";
    const observations = calls.map(async (call) =>
      call.problem === undefined ? context.callTool(call) : context.reject(call.text, call.problem),
    );
    context.append(await Promise.all(observations));
  }
};

export default toolAgent;
