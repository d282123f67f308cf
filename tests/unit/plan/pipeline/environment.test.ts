import { join } from "node:path";
import { expect, test } from "vitest";
import { changePlan } from "../../../../src/plan/pipeline/change-plan.ts";
import { checkPipeline, loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { offeredTools } from "../../../../src/plan/pipeline/resolve/tool-definitions.ts";

const pipeline = join(import.meta.dirname, "../../../pipelines/environment.yaml");

async function refused(...overrides: string[]): Promise<string> {
  return loadPlan(pipeline, { overrides }).then(
    () => "it was accepted",
    (error: Error) => error.message,
  );
}

test("an environment supplies tasks, a tool, a reward and a loop", async () => {
  const { plan, data } = await checkPipeline(pipeline);
  expect(data.train).toHaveLength(2);
  expect(data.validation).toHaveLength(1);
  expect(plan.tools).toMatchObject([
    { name: "environment-counter", host: "environment-counter", manifest: { kind: "tool" } },
  ]);
  expect(plan.rewards).toMatchObject([
    { name: "environment-counter", manifest: { kind: "reward" }, calls: { host: "environment-counter" } },
  ]);
  expect(plan.loop).toMatchObject({ name: "loop-tool-agent", config: { opening: "reset", maxTurns: 4 } });
  expect(offeredTools(plan).map(({ name }) => name)).toEqual(["add"]);
  expect(changePlan(plan, ["steps=2"], 0).plan).toEqual({ ...plan, steps: 2 });
});

test("a pipeline adds tools and rewards, changes the loop, and replaces tasks", async () => {
  const { plan, data } = await checkPipeline(pipeline, {
    overrides: [
      "tools=[tool-calculator]",
      "reward={ plugin: reward-format, config: { pattern: a } }",
      "loop={ config: { maxTurns: 9 } }",
      "environment.timeout=7s",
      "environment.functions=[{ function: add, name: plus }]",
      "dataset={ validation: { plugin: dataset-jsonl, config: { path: ../../pipelines/calculator/chain-sum-small.val.jsonl, limit: 3 } } }",
    ],
  });
  expect(plan.tools.map(({ name, timeout }) => [name, timeout])).toEqual([
    ["tool-calculator", 10_000],
    ["environment-counter", 7000],
  ]);
  expect(plan.rewards.map(({ part }) => part)).toEqual(["counter", "format"]);
  expect(plan.loop.config).toMatchObject({ opening: "reset", maxTurns: 9 });
  expect(offeredTools(plan).map(({ name }) => name)).toEqual(["calculator", "plus"]);
  expect([data.train?.length, data.validation?.length]).toEqual([2, 3]);
});

test("an environment's agent receives its configuration, and depends on its host", async () => {
  const tasks = join(import.meta.dirname, "../../../../pipelines/calculator/chain-sum-small.val.jsonl");
  const config = { address: "tcp://127.0.0.1:5000", tasks };
  const use = {
    plugin: "environment-verifiers",
    config,
    train: { limit: 2 },
    validation: { limit: 1 },
    host: "box",
  };
  const { plan, data } = await checkPipeline(pipeline, { overrides: [`environment=${JSON.stringify(use)}`] });
  expect([data.train?.length, data.validation?.length, plan.tools]).toEqual([2, 1, []]);
  expect(plan.loop).toMatchObject({
    name: "loop-agent",
    config: {
      module: expect.stringMatching(/environment-verifiers\/agent\.ts$/),
      mode: "pool",
      settings: { ...config, success: 1 },
      host: "box",
    },
  });
  expect(plan.rewards).toMatchObject([{ manifest: { reward: { recorded: true } }, calls: { host: "box" } }]);
});

test("a mistake in an environment appears once, at its place", async () => {
  const wrong = await refused("environment.config={ targets: [x] }", "environment.train={ goals: [1] }");
  expect(wrong).toContain("environment.config.targets[0] must be a whole number");
  expect(wrong.match(/targets\[0\]/g)).toHaveLength(1);
  expect(wrong).toContain("goals");
  expect(await refused("environment.confg={}")).toContain("unknown key “confg”");
  expect(await refused("environment.plugin=environment-conter")).toMatch(/1 problem.*environment-conter/s);
  expect(await refused("environment=reward-format")).toContain("reward-format");
  expect(await refused('reward={ plugin: reward-format, config: { pattern: "(a)\\\\1" } }')).toContain(
    "reward[1].config.pattern",
  );
});
