import { pluginChecks } from "everturn/testing";
import { describe, test } from "vitest";

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
