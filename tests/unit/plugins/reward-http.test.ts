import { expect, test, vi } from "vitest";
import reward from "../../../plugins/reward-http/index.ts";
import type { JsonObject } from "../../../src/contracts/json.ts";
import { jsonServer } from "../../support/json-server.ts";

const search = { tool: "search", arguments: { query: "6 · 7" }, observation: "42", valid: true, attempts: 1 };
const task = {
  data_source: "gsm8k",
  prompt: [{ role: "user" as const, content: "6 · 7?" }],
  reward_model: { ground_truth: "42" },
  extra_info: { index: 3 },
  verifier_metadata: { unit: "none" },
};

async function score(config: JsonObject) {
  return reward.score({
    task,
    turns: [
      { action: "search it", toolCalls: [search] },
      { action: "It is 42.", toolCalls: [] },
    ],
    outcome: "answered",
    answer: "It is 42.",
    config,
    signal: new AbortController().signal,
  });
}

test("a NeMo Gym resources server is sent the trajectory as a response, and masks what it could not measure", async () => {
  let answer: object = {
    reward: 0.5,
    mask_sample: false,
    failure_kind: null,
    reward_components: { unit: 1 },
  };
  const { url, asked } = await jsonServer(() => ({ value: answer }));
  const config = { url: `${url}/verify`, form: "nemo-gym", solvedFrom: 0.5 };
  expect(await score(config)).toEqual({ reward: 0.5, success: true, metrics: { unit: 1 } });
  expect(asked[0]).toMatchObject({
    path: "/verify",
    body: {
      verifier_metadata: { unit: "none" },
      responses_create_params: { input: [{ role: "user", content: "6 · 7?" }] },
      response: {
        object: "response",
        output: [
          { type: "message", role: "assistant", content: [{ type: "output_text", text: "search it" }] },
          { type: "function_call", name: "search", call_id: "call_0_0", arguments: '{"query":"6 · 7"}' },
          { type: "function_call_output", call_id: "call_0_0", output: "42" },
          { type: "message", content: [{ text: "It is 42." }] },
        ],
      },
    },
  });
  answer = { reward: 0, mask_sample: true, failure_kind: "judge_unavailable", failure_reason: "no GPU" };
  expect(await score(config)).toEqual({ missing: "judge_unavailable: no GPU" });
});

test("verl's compute_score behind HTTP answers a number, or an object", async () => {
  let answer: unknown = 1;
  const { url, asked } = await jsonServer(() => ({ value: answer }));
  expect(await score({ url, form: "verl" })).toEqual({ reward: 1, success: true });
  expect(asked[0]?.body).toEqual({
    data_source: "gsm8k",
    solution_str: "search it\nIt is 42.",
    ground_truth: "42",
    extra_info: { index: 3, num_turns: 2 },
  });
  answer = { score: 0.2, acc: true, pred: "42", length: 9 };
  expect(await score({ url, form: "verl" })).toEqual({ reward: 0.2, success: true, metrics: { length: 9 } });
});

test("any server is declared: what is sent, where the score is, and whose token goes with it", async () => {
  let value: unknown = { data: { score: -2, passed: false, details: { speed: 3, note: "slow" } } };
  const { url, asked } = await jsonServer(() => ({ value }));
  vi.stubEnv("EVERTURN_TEST_TOKEN", "s3cret");
  const config = {
    url,
    body: { question: "$task.prompt.0.content", said: ["$answer", "$task.none"], strict: true },
    answer: { reward: "data.score", success: "data.passed", metrics: "data.details", missing: "error" },
    token: "EVERTURN_TEST_TOKEN",
  };
  expect(await score(config)).toEqual({ reward: -2, success: false, metrics: { speed: 3 } });
  expect(asked[0]?.body).toEqual({ question: "6 · 7?", said: ["It is 42.", null], strict: true });
  expect(asked[0]?.headers.authorization).toBe("Bearer s3cret");
  value = { error: "no tests for this task" };
  expect(await score(config)).toEqual({ missing: "no tests for this task" });
  vi.unstubAllEnvs();
  await expect(score(config)).rejects.toThrow("the worker has no environment variable EVERTURN_TEST_TOKEN");
});

test.each([
  [{ status: 503, value: "busy" }, "the server answered 503: busy"],
  [{ value: "not JSON" }, "the server's answer is not JSON: not JSON"],
  [{ value: { reward: "1" } }, 'the server\'s reward is "1", no number'],
])("what is no score is a failure, never a 0: %o", async (answer, reason) => {
  const { url } = await jsonServer(() => answer);
  await expect(score({ url, form: "nemo-gym" })).rejects.toThrow(reason);
});
