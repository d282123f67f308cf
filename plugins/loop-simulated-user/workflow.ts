import type { AgentLoop } from "everturn/workflow";

/**
 * A conversation with a user whom a tool of the pipeline speaks for. The user begins if the task's prompt does not end with words of
 * the user's. The policy may call tools before each answer; the user answers it until the tool says that it is done.
 */
const simulatedUser: AgentLoop = async (context) => {
  const { config, turn } = context;
  const user = String(config.user ?? "user");
  if (turn === 1 && (await context.task()).prompt.at(-1)?.role !== "user") {
    context.say((await context.useTool(user, {})).text);
  }
  const action = await context.generate();
  if (action.finishReason === "length") return "token-limit";
  const { answer, calls } = context.parse(action);
  const isLast = turn === Number(config.maxTurns ?? 30);
  if (calls.length > 0) {
    if (isLast) return "turn-limit";
    const answers = calls.map((call) =>
      call.problem === undefined ? context.callTool(call) : context.reject(call.text, call.problem),
    );
    context.append(await Promise.all(answers));
    return "continue";
  }
  if (isLast) return "answered";
  const reply = await context.useTool(user, { said: answer });
  if (reply.done) return "answered";
  context.say(reply.text);
  return "continue";
};

export default simulatedUser;
