import type { AgentLoop, Observation, ParsedCall } from "everturn/workflow";

/**
 * Generates actions and makes their tool calls, until an action has no calls. The calls of one action run in
 * parallel, `parallelCalls` at once, and are answered in order. An unreadable call, or one beyond `maxCalls`,
 * gets an observation that explains the problem. With `opening`, a call of this function comes first, and the policy reads
 * its answer as a message of the user's.
 */
const toolAgent: AgentLoop = async (context) => {
  const { opening } = context.config;
  if (opening !== undefined && context.turn === 1)
    context.say((await context.useTool(String(opening), {})).text);
  const action = await context.generate();
  if (action.finishReason === "length") return "token-limit";
  const { calls } = context.parse(action);
  if (calls.length === 0) return "answered";
  if (context.turn === Number(context.config.maxTurns)) return "turn-limit";
  const most = Number(context.config.maxCalls ?? 64);
  const made = calls.slice(0, most);
  const observations = await inParallel(made, Number(context.config.parallelCalls ?? 16), answer);
  if (calls.length > most) {
    const left = `${calls.length - most} more calls`;
    observations.push(context.reject(left, `error: ${left} were not made: an action may have ${most}.`));
  }
  context.append(observations);
  return "continue";

  async function answer(call: ParsedCall): Promise<Observation> {
    return call.problem === undefined ? context.callTool(call) : context.reject(call.text, call.problem);
  }
};

export default toolAgent;

/** Does `work` for each item, `atOnce` at a time. Returns the results in order. */
async function inParallel<One, Result>(
  all: readonly One[],
  atOnce: number,
  work: (one: One) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  async function lane(): Promise<void> {
    for (let index = next++; index < all.length; index = next++) {
      const one = all[index];
      if (one !== undefined) results[index] = await work(one);
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, lane));
  return results;
}
