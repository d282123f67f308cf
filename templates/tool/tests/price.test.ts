import { pluginChecks } from "everturn/testing";
import { describe, test } from "vitest";

// The tool is called as runs call it, and worse: with odd arguments, all at once, aborted, its worker killed between two calls.
const ofTool = await pluginChecks(new URL("../tools/price.ts", import.meta.url), {
  cases: [
    { arguments: { item: "664" }, text: "10" },
    { arguments: { item: "tea" }, error: true },
  ],
});
describe("the tool price", () => {
  for (const { name, run } of ofTool) test(name, run, 60_000);
});

// The reward is asked for these scores, and for those of whatever else a model may write.
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
