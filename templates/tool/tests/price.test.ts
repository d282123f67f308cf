import { expect, test } from "vitest";
import rightPrice from "../rewards/right-price.ts";
import price from "../tools/price.ts";

const { signal } = new AbortController();
const config = {};

test("the tool knows what an item costs, and tells the model where there is none", async () => {
  const execution = { instance: "test", key: "test", attempt: 1, isReplay: false, config, signal };
  expect(await price.execute({ item: "664" }, execution, undefined)).toBe(10);
  expect(await price.execute({ item: "tea" }, execution, undefined)).toMatchObject({ error: true });
});

test("the reward is for the right price, wherever the answer says it", async () => {
  const task = {
    data_source: "shop",
    prompt: [{ role: "user" as const, content: "What does item 664 cost?" }],
    reward_model: { ground_truth: "10" },
  };
  const score = (answer: string) =>
    rightPrice.score({ task, answer, turns: [], outcome: "answered", config, signal });
  expect(await score("Answer: 10")).toEqual({ reward: 1, success: true });
  expect(await score("Item 664 costs 10 euros.")).toEqual({ reward: 1, success: true });
  expect(await score("Answer: 11")).toEqual({ reward: 0, success: false });
  expect(await score("")).toEqual({ reward: 0, success: false });
});
