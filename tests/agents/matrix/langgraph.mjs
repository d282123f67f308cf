import { text } from "node:stream/consumers";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent } from "langchain";
import { calculate, description, parameters } from "./calculator.mjs";

const task = JSON.parse(await text(process.stdin));
const calculator = tool(({ expression }) => calculate(expression), {
  name: "calculator",
  description,
  schema: parameters,
});
const agent = createAgent({
  model: new ChatOpenAI({ model: "policy", configuration: { baseURL: process.env.OPENAI_BASE_URL } }),
  tools: [calculator],
});
await agent
  .invoke({ messages: [{ role: "user", content: task.prompt.at(-1).content }] }, { recursionLimit: 9 })
  .catch((e) => {
    if (!/ecursion/.test(e.message)) throw e;
  });
