import { expect, test } from "vitest";
import { harnessResults } from "../../../../src/results/evaluations/harness-results.ts";
import type { TaskOutcomes } from "../../../../src/results/evaluations/outcomes.ts";

const record = { name: "evaluation-wide", policyVersion: 3, samples: 2, temperature: 1, seconds: 12 };

function outcome(id: string, source: string, solved: boolean[]): TaskOutcomes {
  const task = {
    data_source: source,
    prompt: [{ role: "user" as const, content: id }],
    reward_model: { ground_truth: "1" },
  };
  return {
    id,
    task,
    samples: solved.map((success) => ({ success, reward: Number(success), answer: `a${success}` })),
  };
}

test("each data source is a task of lm-evaluation-harness, with its measures and their standard errors", () => {
  const outcomes = [
    outcome("t0", "openai/gsm8k", [true, true]),
    outcome("t1", "openai/gsm8k", [true, false]),
    outcome("t2", "math", [false, false]),
  ];
  const { results, samples } = harnessResults("run-1", record, outcomes);
  expect(results).toMatchObject({
    results: {
      openai_gsm8k: {
        alias: "openai_gsm8k",
        sample_len: 2,
        "accuracy,none": 0.75,
        "accuracy_stderr,none": 0.25,
        "pass@2,none": 1,
        "pass@2_stderr,none": 0,
      },
      math: { "accuracy,none": 0, "accuracy_stderr,none": "N/A" },
    },
    versions: { openai_gsm8k: 1, math: 1 },
    "n-shot": { openai_gsm8k: 0, math: 0 },
    "n-samples": { openai_gsm8k: { original: 2, effective: 2 }, math: { original: 1, effective: 1 } },
    config: {
      model: "everturn",
      model_args: { run: "run-1", evaluation: "evaluation-wide", policy_version: 3 },
    },
  });
  expect(samples.openai_gsm8k?.[1]).toMatchObject({
    doc_id: 1,
    target: "1",
    resps: [["atrue", "afalse"]],
    filtered_resps: ["atrue", "afalse"],
    accuracy: 0.5,
    doc_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});
