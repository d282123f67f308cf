import { defineAgent } from "everturn/plugin";
import OpenAI from "openai";

/** A calculator with other names than that of the demonstrations. */
const evaluate = {
  name: "evaluate",
  description: "Evaluates a formula.",
  parameters: { type: "object", properties: { formula: { type: "string" } }, required: ["formula"] },
};

/** Offers its tool, and rejects calls of another one. */
export default defineAgent(async ({ task, signal }) => {
  const client = new OpenAI();
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "user", content: task.prompt.at(-1)?.content ?? "" },
  ];
  for (let turn = 0; turn < 3; turn++) {
    const { choices } = await client.chat.completions.create(
      { model: "policy", messages, tools: [{ type: "function", function: evaluate }] },
      { signal },
    );
    const message = choices[0]?.message;
    if (message?.tool_calls === undefined) return message?.content;
    messages.push(message);
    for (const { id } of message.tool_calls)
      messages.push({ role: "tool", tool_call_id: id, content: "error: the tool is evaluate(formula)" });
  }
  return undefined;
});
