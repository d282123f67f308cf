import { join } from "node:path";
import { expect, test } from "vitest";
import { createAjv } from "../../../../src/base/validation/ajv.ts";
import { changePlan } from "../../../../src/plan/pipeline/change-plan.ts";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { composedSchema } from "../../../../src/plan/pipeline/read/composed-schema.ts";
import { changed, refused, workspace } from "./workspace.ts";

const one = "reward: { plugin: reward-exact-match, config: {} }";

function naming(reward: string): Record<string, string> {
  return changed("pipeline.yaml", one, `reward:${reward}`);
}

test("several rewards have weights, names for their metrics, and tasks of their own", async () => {
  const list = `
  - reward-exact-match
  - { plugin: reward-exact-match, name: number, weight: 0.5, config: { extract: last-number }, timeout: 5s }
  - { plugin: reward-exact-match, name: only-there, weight: 0, dataSources: [there, test] }`;
  const folder = workspace(naming(list));
  const plan = await loadPlan(join(folder, "pipeline.yaml"), { overrides: ["reward.2.weight=-1"] });
  expect(plan.rewards).toMatchObject([
    { part: "exact-match", weight: 1, config: { extract: "whole" }, calls: { timeout: 60_000 } },
    { part: "number", weight: 0.5, config: { extract: "last-number" }, calls: { timeout: 5000 } },
    { part: "only-there", weight: -1, dataSources: ["there", "test"] },
  ]);
  const other = changePlan(plan, ["steps=9"], 0);
  expect(other.plan, "a change of the plan leaves them as they are").toEqual({ ...plan, steps: 9 });
  expect(() => changePlan(plan, ["reward.1.weight=2"], 0)).toThrow("the rewards so far are its");
});

test("one alone needs no name and counts in full", async () => {
  const { rewards } = await loadPlan(join(workspace(), "pipeline.yaml"));
  expect(rewards).toMatchObject([{ name: "reward-exact-match", weight: 1 }]);
  expect(rewards[0]).not.toHaveProperty("part");
});

test("what is wrong with a list is said with its place", async () => {
  expect(await refused(naming(" []"))).toContain("reward is an empty list, but must not be empty");
  expect(await refused(naming(" [reward-exact-match, { plugin: reward-exact-mach }]"))).toMatch(
    /pipeline\.yaml:15:\d+: .*reward-exact-mach.*Did you mean “reward-exact-match”/s,
  );
  expect(await refused(naming(" [{ plugin: reward-exact-match, config: { extract: all } }]"))).toMatch(
    /reward\[0\]\.config\.extract .*must be one of whole, last-number/,
  );
  expect(await refused(naming(" [reward-exact-match, reward-exact-match]"))).toContain(
    "reward[1] is called “exact-match” in metrics, as reward[0] is",
  );
  const asTool = naming(" [{ plugin: reward-exact-match, name: calculator }]");
  expect(await refused(asTool)).toContain("reward[0] is called “calculator” in metrics, as tools[0] is");
});

test("what a reward finds wrong with its configuration is refused before a run, at its place", async () => {
  const back = '{ plugin: reward-format, config: { pattern: "(a)\\\\1" } }';
  expect(await refused(naming(` [reward-exact-match, ${back}]`))).toMatch(
    /pipeline\.yaml:15:\d+: reward\[1\]\.config\.pattern can't be read as RE2: .* say it without/,
  );
  const judge =
    '{ plugin: reward-llm-judge, config: { url: "http://127.0.0.1:1", model: m, rubric: r, from: 10 } }';
  expect(await refused(naming(` ${judge}`))).toContain(
    "reward.config.from is 10, but there are points up to 10",
  );
});

test("tasks that no reward with a weight scores are refused, each data source once", async () => {
  const elsewhere = "{ plugin: reward-exact-match, dataSources: [elsewhere] }";
  const metric = "{ plugin: reward-exact-match, name: metric, weight: 0 }";
  const refusal = await refused(naming(` [${elsewhere}, ${metric}]`));
  expect(refusal).toMatch(
    /tasks\.jsonl:1: no reward with a weight scores the data source “test” of a task of dataset\.train/,
  );
  expect(refusal).toContain("a task of dataset.validation");
});

test("editors are told of a list, too, with the options of its plugins", () => {
  const config = { type: "object", additionalProperties: false, properties: { deep: { type: "boolean" } } };
  const manifest = {
    name: "reward-x",
    kind: "reward",
    version: "1.0.0",
    engines: { everturn: "*" },
  } as const;
  const capabilities = { network: false, files: false, processes: false };
  const schema = composedSchema([
    { reference: "reward-x", manifest: { ...manifest, capabilities, entry: "./x.ts", config } },
  ]);
  const validate = createAjv().compile({ ...schema, else: {} });
  expect(validate({ reward: ["reward-x", { plugin: "reward-x", weight: 0, config: { deep: true } }] })).toBe(
    true,
  );
  expect(validate({ reward: [{ plugin: "reward-x", config: { deep: 1 } }] })).toBe(false);
  expect(validate({ reward: { plugin: "reward-x", config: { deep: 1 } } })).toBe(false);
});

test("a reward of groups stands beside one that scores each trajectory, in groups of two or more", async () => {
  const rank = join(import.meta.dirname, "../../../../plugins/reward-group-rank");
  expect(await refused(naming(` ${rank}`))).toContain(
    "reward compares the trajectories of a group, but no other reward scores each of them. Put one before it, with weight 0",
  );
  const both = naming(` [reward-exact-match, ${rank}]`);
  expect(await refused(both, ["rollout.groupSize=1"])).toContain(
    "reward[1] compares the trajectories of a group, but rollout.groupSize is 1",
  );
  const { rewards } = await loadPlan(join(workspace(both), "pipeline.yaml"));
  expect(rewards[1]).toMatchObject({
    part: "group-rank",
    config: { by: "reward" },
    manifest: { reward: { group: true } },
  });
});
