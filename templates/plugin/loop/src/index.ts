import { defineLoop } from "everturn/workflow";

/** One look at a tool, then the answer. The module becomes workflow code: it imports nothing of Node's. */
export default defineLoop({
  async turn({ turn, generate, callTool, append }) {
    const { text, finishReason } = await generate();
    if (finishReason === "length") return "token-limit";
    const call = /<tool_call>\s*\{\s*"name":\s*"(\w+)"/.exec(text);
    if (call?.[1] === undefined || turn > 1) return "answered";
    append([await callTool({ name: call[1], arguments: {} })]);
    return "continue";
  },
});
