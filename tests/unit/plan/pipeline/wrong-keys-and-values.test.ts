import { join } from "node:path";
import { expect, test } from "vitest";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { refused, workspace } from "./workspace.ts";

/** A pipeline with nearly all the keys that there are, each on a line of its own. */
const whole = `name: whole
seed: 7
steps: 2
policy:
  plugin: policy-test
  config:
    weights: ./weights
    width: 8
dataset:
  train:
    plugin: dataset-jsonl
    config:
      path: ./tasks.jsonl
      limit: 1
  validation:
    plugin: dataset-jsonl
    config:
      path: ./tasks.jsonl
  mix:
    test: 1
tools:
  - plugin: tool-calculator
    name: sums
    timeout: 2s
    rate: 10/s
    concurrency: 3
    approval: required
    approvalTimeout: 1h
    whom: the reviewers
    host: arithmetic
    retry:
      maximumAttempts: 3
      initialInterval: 100ms
      backoffCoefficient: 2
      maximumInterval: 5s
    observations:
      characters: 500
      cut: middle
hosts:
  arithmetic:
    rate: 20/s
    concurrency: 4
    failures: 5
    pause: 1s
    longestPause: 1m
    patience: 10m
loop:
  plugin: loop-test
  config: {}
reward:
  plugin: reward-exact-match
  config: {}
  timeout: 3s
  concurrency: 2
trainer:
  plugin: trainer-test
  config:
    learningRate: 1e-4
    minibatchSize: 4
    optimizer: adamw
rollout:
  batchSize: 8
  groupSize: 2
  temperature: 1
  maxActionTokens: 16
  format: hermes
  concurrency: 4
  staleness: 1
  minGroup: 2
  maxInfrastructureFailures: 0.1
  templateCheck: warn
  observations:
    characters: 800
    cut: end
  limits:
    turns: 4
    tokens: 200
    turnTime: 1m
    time: 5m
    invalidCalls: 3
evaluation:
  every: 1
  tasks: 1
checkpoints:
  every: 1
retention:
  singleRecords: 3
`;
const lines = whole.trimEnd().split("\n");

/** The keys, with where they stand; those below a mapping of free names are no keys of ours. */
const free = new Set(["arithmetic", "test"]);
const keys = lines.flatMap((text, index) => {
  const [, before = "", key = "", value = ""] = /^(\s*(?:- )?)([\w-]+):(.*)$/.exec(text) ?? [];
  return key === "" || free.has(key)
    ? []
    : [{ key, value: value.trim(), line: index + 1, column: before.length + 1, before }];
});

/** The pipeline with one line in place of the line `number`, and what stands below that if it is a mapping left out. */
function withLine(number: number, text: string, isWithoutRest: boolean): string {
  const indent = (line: string) => /^[\s-]*/.exec(line)?.[0].length ?? 0;
  const own = lines[number - 1] ?? "";
  let rest = lines.slice(number);
  if (isWithoutRest) {
    const next = rest.findIndex(
      (line) => indent(line) <= indent(own) && !line.startsWith(`${" ".repeat(indent(own))}- `),
    );
    rest = next === -1 ? [] : rest.slice(next);
  }
  return [...lines.slice(0, number - 1), text, ...rest, ""].join("\n");
}

test("the pipeline is right as it is, and has many keys", async () => {
  await expect(loadPlan(join(workspace({ "pipeline.yaml": whole }), "pipeline.yaml"))).resolves.toMatchObject(
    { name: "whole" },
  );
  expect(keys.length).toBeGreaterThan(65);
});

/** A typing error: its last two letters the other way round. */
const misspelled = (key: string) => {
  const swapped = `${key.slice(0, -2)}${key.at(-1)}${key.at(-2)}`;
  return swapped === key ? `${key}x` : swapped;
};

test.each(keys)("line $line: $key misspelled", async ({ key, value, line, column, before }) => {
  const wrong = misspelled(key);
  const message = await refused({ "pipeline.yaml": withLine(line, `${before}${wrong}: ${value}`, false) });
  expect(message).toContain(`pipeline.yaml:${line}:${column}: `);
  expect(message).toMatch(new RegExp(`unknown key “${wrong}”.*Did you mean “${key}”\\?`));
});

test.each(keys)("line $line: $key with a value of another kind", async ({ key, value, line, before }) => {
  const wrong = value === "" || value === "{}" ? "3.5" : "{ a: [] }";
  const message = await refused({
    "pipeline.yaml": withLine(line, `${before}${key}: ${wrong}`, value === ""),
  });
  expect(message).toMatch(new RegExp(`pipeline\\.yaml:${line}:\\d+: .*${key}`));
});
