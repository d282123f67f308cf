import { join } from "node:path";
import { expect, test } from "vitest";
import { changePlan } from "../../../../src/plan/pipeline/change-plan.ts";
import { checkPipeline } from "../../../../src/plan/pipeline/load-plan.ts";
import { changed, refused, workspace } from "./workspace.ts";

const agent = (config: string) => ({
  ...changed(
    "pipeline.yaml",
    "loop: { plugin: loop-test, config: {} }",
    `loop: { plugin: loop-agent, config: { ${config} } }`,
  ),
  "agent.js": "export default async () => '2';\n",
});

test.each([
  ["", "loop.config needs either “command”, which starts the agent, or “module”, which defines it"],
  ["module: ./agent.js, command: [node]", "loop.config has both “command”"],
  ["command: [node], mode: pool", "loop.config.mode is “pool”, but a command ends after each trajectory"],
  ["module: ./agent.js, mode: thread, folder: .", "loop.config.folder is set, but a thread has no working"],
])("an agent whose settings exclude each other is refused: %s", async (config, message) => {
  expect(await refused(agent(config))).toContain(message);
});

test("the number of concurrent agents may change in a run, and no other setting of them", async () => {
  const folder = workspace(agent("module: ./agent.js, mode: thread, concurrency: 4"));
  const { plan } = await checkPipeline(join(folder, "pipeline.yaml"));
  const next = changePlan(plan, ["loop.config.concurrency=16"], 1);
  expect(next.changed).toEqual([{ key: "loop.config.concurrency", from: 4, to: 16 }]);
  expect(next.plan).toEqual({
    ...plan,
    loop: { ...plan.loop, config: { ...plan.loop.config, concurrency: 16 } },
  });
  expect(changePlan(next.plan, ["loop.config.concurrency=null"], 1).plan.loop.config).not.toHaveProperty(
    "concurrency",
  );
  const change = (set: string) => () => changePlan(plan, [set], 1);
  expect(change("loop.config.concurrency=0")).toThrow("loop.config.concurrency is 0, but must be at least 1");
  expect(change("loop.config.mode=pool")).toThrow("the trajectories so far were made with it");
});

test("a loop of another kind keeps its concurrency", async () => {
  const { plan } = await checkPipeline(join(workspace({}), "pipeline.yaml"));
  expect(() => changePlan(plan, ["loop.config.concurrency=4"], 1)).toThrow(
    "the trajectories so far were made with it",
  );
});
