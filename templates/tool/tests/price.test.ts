import { pluginChecks } from "everturn/testing";
import { describe, test } from "vitest";

// Calls the tool as runs do, and worse: with odd arguments, concurrently, aborted, with its worker killed between two calls.
const ofTool = await pluginChecks(new URL("../tools/price.ts", import.meta.url), {
  cases: [
    { arguments: { item: "664" }, text: "10" },
    { arguments: { item: "tea" }, error: true },
  ],
});
describe("the tool price", () => {
  for (const { name, run } of ofTool) test(name, run, 60_000);
});

// Asks the reward for these scores, and for scores of other things that a model may write.
const ofReward = await pluginChecks(new URL("../rewards/right-price.ts", import.meta.url), {
  cases: [
    { answer: "Answer: 10", groundTruth: "10", reward: 1, success: true },
    { answer: "Item 664 costs 10 euros.", groundTruth: "10", reward: 1, success: true },
    { answer: "Answer: 11", groundTruth: "10", reward: 0, success: false },
    { answer: "", groundTruth: "10", reward: 0, success: false },
  ],
});
describe("the reward right-price", () => {
  for (const { name, run } of ofReward) test(name, run, 60_000);
});
