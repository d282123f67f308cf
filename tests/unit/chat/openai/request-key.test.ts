import { expect, test } from "vitest";
import { requestKey } from "../../../../src/chat/openai/request-key.ts";

test("the same request has the same key, however its keys are ordered and its answer is carried", () => {
  const key = requestKey("chat", { model: "m", messages: [{ role: "user", content: "U" }] });
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  const reordered = { stream: true, messages: [{ content: "U", role: "user" }], model: "m" };
  expect(requestKey("chat", { ...reordered, stream_options: { include_usage: true } })).toBe(key);
  expect(requestKey("responses", reordered)).not.toBe(key);
  expect(requestKey("chat", { ...reordered, messages: [{ content: "V", role: "user" }] })).not.toBe(key);
  expect(requestKey("chat", { ...reordered, seed: 1 })).not.toBe(key);
});
