import { text } from "node:stream/consumers";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import { calculate, description, parameters } from "./calculator.mjs";

const task = JSON.parse(await text(process.stdin));
const provider = createOpenAICompatible({
  name: "everturn",
  baseURL: process.env.OPENAI_BASE_URL,
  apiKey: process.env.OPENAI_API_KEY,
});
await generateText({
  model: provider("policy"),
  prompt: task.prompt.at(-1).content,
  stopWhen: stepCountIs(3),
  tools: {
    calculator: tool({
      description,
      inputSchema: jsonSchema(parameters),
      execute: ({ expression }) => calculate(expression),
    }),
  },
});
