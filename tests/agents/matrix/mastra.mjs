import { text } from "node:stream/consumers";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { calculate, description } from "./calculator.mjs";

const task = JSON.parse(await text(process.stdin));
const calculator = createTool({
  id: "calculator",
  description,
  inputSchema: z.object({
    expression: z.string().describe("Numbers, + - * / and parentheses, for example 74 + 50 - 47."),
  }),
  execute: async (input) => calculate(input.expression ?? input.context?.expression),
});
const agent = new Agent({
  id: "a",
  name: "a",
  instructions: "",
  model: { id: "everturn/policy", url: process.env.OPENAI_BASE_URL, apiKey: process.env.OPENAI_API_KEY },
  tools: { calculator },
});
await agent.generate(task.prompt.at(-1).content, { maxSteps: 3 });
process.exit(0);
