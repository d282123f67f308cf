import { defineLoop } from "everturn/workflow";

/** An agent that looks something up at most once: it asks, reads what comes back, and answers. This is one turn of it. */
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
