import { describe, expect, test } from "vitest";
import type { Message } from "../../../../src/contracts/message.ts";
import type { TokenLimit } from "../../../../src/contracts/policy.ts";
import { cutObservation, cutObservations } from "../../../../src/work/tools/cut-observations.ts";
import { cutText } from "../../../../src/work/tools/cut-text.ts";
import { samplePlan } from "../../../support/sample-plan.ts";

const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 6, warmStart: false, evaluationEvery: 2 });
const said: Message[] = [
  { role: "tool", name: "calculator", content: "long" },
  { role: "tool", name: "other", content: "longer" },
  { role: "user", content: "the longest" },
];
/** A token a character. */
const policy = {
  cutText: (text: string, { tokens, cut }: TokenLimit) =>
    text.length <= tokens ? { text, cut: 0 } : { text: `${text.slice(0, tokens)} ${cut}`, cut: 1 },
};

describe("an observation", () => {
  const limited = (own: object, ofTool: object) => ({
    rollout: { ...plan.rollout, observations: { cut: "end" as const, ...own } },
    tools: plan.tools.map((tool) => ({ ...tool, observations: ofTool })),
  });

  test("stays whole without a limit, or with a policy that can't cut", () => {
    expect(cutObservations(limited({}, {}), policy, said)).toEqual({ messages: said, cut: 0 });
    expect(cutObservations(limited({ tokens: 2 }, {}), {}, said)).toEqual({ messages: said, cut: 0 });
  });

  test("is cut at its tool's limit", () => {
    const one = cutObservations(limited({}, { tokens: 3 }), policy, said);
    expect(one.messages.map(({ content }) => content)).toEqual(["lon end", "longer", "the longest"]);
  });

  test("is cut at the rollout's limit if its tool has none", () => {
    const all = cutObservations(limited({ tokens: 2 }, { tokens: 3, cut: "start" }), policy, said);
    expect(all.messages.map(({ content }) => content)).toEqual(["lon start", "lo end", "the longest"]);
    expect(all.cut).toBe(2);
    expect(cutObservation(limited({ tokens: 2 }, {}), policy, "other", "longer")).toBe("lo end");
  });
});

test("where there is a limit of tokens and none of characters, characters are cut far above it", () => {
  const length = (limit: object) =>
    cutText("x".repeat(400_000), { cut: "end", ...limit }).split("\n")[0]?.length;
  expect(length({})).toBe(8000);
  expect(length({ tokens: 100 })).toBe(8000);
  expect(length({ tokens: 1000 })).toBe(16_000);
  expect(length({ tokens: 1_000_000 })).toBe(300_000);
  expect(length({ tokens: 1000, characters: 20 })).toBe(20);
});
