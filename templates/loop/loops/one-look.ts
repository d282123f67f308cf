import { defineLoop, type JsonObject } from "everturn/workflow";

/** An agent that looks something up at most once: it asks, reads what comes back, and answers. This is one turn of it. */
export default defineLoop({
  async turn(context) {
    const action = await context.generate();
    if (action.finishReason === "length") return "token-limit";
    const text = /<tool_call>(.*?)<\/tool_call>/s.exec(action.text)?.[1];
    if (text === undefined || context.turn > 1) return "answered";
    const call = readCall(text);
    const observation =
      call === undefined
        ? context.reject(text, 'error: write <tool_call>{"name": "…", "arguments": {…}}</tool_call>')
        : await context.callTool(call);
    context.append([observation]);
    return "continue";
  },
});

function readCall(text: string): { name: string; arguments: JsonObject } | undefined {
  try {
    const call: { name?: unknown; arguments?: JsonObject } | null = JSON.parse(text);
    return typeof call?.name === "string" ? { name: call.name, arguments: call.arguments ?? {} } : undefined;
  } catch {
    return undefined;
  }
}
