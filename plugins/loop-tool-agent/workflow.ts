import type { AgentLoop } from "everturn/workflow";
import { parseToolCalls } from "./parse-tool-calls.ts";

/**
 * Generates, and calls the tools that the action asks for, until an action calls none. Calls of one action run in
 * parallel; a call that can't be read is answered with an observation that says why.
 */
const toolAgent: AgentLoop = async (context) => {
  const action = await context.generate();
  if (action.finishReason === "length") return "token-limit";
  const calls = parseToolCalls(action.text);
  if (calls.length === 0) return "answered";
  if (context.turn === Number(context.config.maxTurns)) return "turn-limit";
  const observations = calls.map(async (call) =>
    call.problem === undefined ? context.callTool(call) : context.reject(call.text, call.problem),
  );
  context.append(await Promise.all(observations));
  return "continue";
};

export default toolAgent;
