import { pluginChecks } from "everturn/testing";
import { expect, test } from "vitest";

test("reward-qa keeps its promises", async () => {
  const checks = await pluginChecks("reward-qa", {
    cases: [
      { answer: "<answer>The Goethe.</answer>", groundTruth: "goethe", reward: 1, success: true },
      { answer: "Goethe", groundTruth: "Goethe", reward: 0, success: false },
    ],
  });
  expect(checks).toHaveLength(10);
  for (const { run } of checks) await run();
});
