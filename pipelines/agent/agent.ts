import { defineAgent } from "everturn/plugin";
import OpenAI from "openai";

const calculator = {
  name: "calculator",
  description: "Evaluates an arithmetic expression exactly.",
  parameters: {
    type: "object",
    additionalProperties: false,
    required: ["expression"],
    properties: {
      expression: {
        type: "string",
        description: "Numbers, + - * / and parentheses, for example 74 + 50 - 47.",
        minLength: 1,
        maxLength: 1000,
      },
    },
  },
};

/** An agent as it might stand in any project: OpenAI's client, a loop, and a tool. Of Everturn it knows its task alone. */
export default defineAgent(async ({ task, signal }) => {
  const client = new OpenAI(); // its base URL and key are in the environment
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "user", content: task.prompt.at(-1)?.content ?? "" },
  ];
  for (let turn = 0; turn < 3; turn++) {
    const { choices } = await client.chat.completions.create(
      { model: "policy", messages, tools: [{ type: "function", function: calculator }] },
      { signal },
    );
    const message = choices[0]?.message;
    if (message?.tool_calls === undefined) return message?.content;
    messages.push(message);
    for (const call of message.tool_calls) {
      const content = call.type === "function" ? calculate(call.function.arguments) : "error: not a function";
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
  }
  return undefined;
});

function calculate(given: string): string {
  const { expression } = JSON.parse(given);
  if (!/^[-+*/().\d\s]+$/.test(String(expression))) return "error: numbers, + - * / and parentheses alone";
  try {
    return String(Function(`return (${expression})`)());
  } catch (error) {
    return `error: ${error instanceof Error ? error.message : error}`;
  }
}
