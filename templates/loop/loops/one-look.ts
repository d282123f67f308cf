import { defineLoop } from "everturn/workflow";

/** One turn of an agent that looks something up at most once: it calls a tool, reads the answer, and replies. */
export default defineLoop({
  async turn(context) {
    const action = await context.generate();
    if (action.finishReason === "length") return "token-limit";
    const [call] = context.parse(action).calls;
    if (call === undefined || context.turn > 1) return "answered";
    const observation =
      call.problem === undefined ? await context.callTool(call) : context.reject(call.text, call.problem);
    context.append([observation]);
    return "continue";
  },
});
