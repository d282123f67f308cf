import { pluginChecks } from "everturn/testing";
import { expect, test } from "vitest";

const weather = '[{"weather": {"city": ["Bern", "Berne"], "unit": ["C", ""]}}]';

test("reward-function-calls keeps its promises", async () => {
  const checks = await pluginChecks("reward-function-calls", {
    cases: [
      { answer: '[weather(city="bern")]', groundTruth: weather, reward: 1, success: true },
      { answer: 'weather(city="Bonn")', groundTruth: weather, reward: 0, success: false },
      { answer: "None of them fits.", groundTruth: "[]", reward: 1, success: true },
    ],
  });
  expect(checks).toHaveLength(10);
  for (const { run } of checks) await run();
});
