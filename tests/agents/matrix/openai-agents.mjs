import { text } from "node:stream/consumers";
import { Agent, run, tool } from "@openai/agents";
import { calculate, description, parameters } from "./calculator.mjs";

const task = JSON.parse(await text(process.stdin));
const calculator = tool({
  name: "calculator",
  description,
  parameters,
  strict: false,
  execute: ({ expression }) => calculate(expression),
});
const agent = new Agent({ name: "A", model: "policy", tools: [calculator] });
const result = await run(agent, task.prompt.at(-1).content, { stream: true, maxTurns: 3 }).catch((e) => {
  if (e.name !== "MaxTurnsExceededError") throw e;
});
try {
  for await (const _ of result) {
  }
  await result.completed;
} catch (e) {
  // An action that reached its limit of tokens ends the trajectory, and the SDK throws for it.
  if (!/turns|response\.incomplete/i.test(e.message)) throw e;
}
process.exit(0);
