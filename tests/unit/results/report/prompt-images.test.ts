import { expect, test } from "vitest";
import type { Segment } from "../../../../src/contracts/generated/segment.ts";
import { seenPrompt } from "../../../../src/results/report/prompt-images.ts";

const prompt = [
  { role: "system" as const, content: " Be brief. " },
  { role: "user" as const, content: "<image> Is this <image>?" },
];

function segment(images: string[]): Segment {
  const placed = images.map((sha256, index) => ({ sha256, start: 5 * index }));
  return { previous: null, origin: "prompt", text: "", tokens: [1], images: placed };
}

test("a prompt's images stand at their places", () => {
  expect(seenPrompt(prompt, segment(["a", "b"]))).toEqual([
    { role: "system", parts: [{ text: "Be brief." }] },
    { role: "user", parts: [{ sha256: "a" }, { text: "Is this" }, { sha256: "b" }, { text: "?" }] },
  ]);
});

test.each([
  ["none of them", []],
  ["other ones", ["a"]],
])("a prompt is text where the policy saw %s", (_, images) => {
  expect(seenPrompt(prompt, segment(images))).toEqual(
    prompt.map(({ role, content }) => ({ role, parts: [{ text: content }] })),
  );
  expect(seenPrompt(prompt, undefined)[1]?.parts).toHaveLength(1);
});
