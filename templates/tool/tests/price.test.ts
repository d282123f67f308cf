import { pluginChecks } from "everturn/testing";
import { describe, expect, test } from "vitest";
import rightPrice from "../rewards/right-price.ts";

// The tool is called as runs call it, and worse: with odd arguments, all at once, aborted, its worker killed between two calls.
const promises = await pluginChecks(new URL("../tools/price.ts", import.meta.url), {
  cases: [
    { arguments: { item: "664" }, text: "10" },
    { arguments: { item: "tea" }, error: true },
  ],
});
describe("the tool price", () => {
  for (const { name, run } of promises) test(name, run, 60_000);
});

test("the reward is for the right price, wherever the answer says it", async () => {
  const task = {
    data_source: "shop",
    prompt: [{ role: "user" as const, content: "What does item 664 cost?" }],
    reward_model: { ground_truth: "10" },
  };
  const { signal } = new AbortController();
  const score = (answer: string) =>
    rightPrice.score({ task, answer, turns: [], outcome: "answered", config: {}, signal });
  expect(await score("Answer: 10")).toEqual({ reward: 1, success: true });
  expect(await score("Item 664 costs 10 euros.")).toEqual({ reward: 1, success: true });
  expect(await score("Answer: 11")).toEqual({ reward: 0, success: false });
  expect(await score("")).toEqual({ reward: 0, success: false });
});
