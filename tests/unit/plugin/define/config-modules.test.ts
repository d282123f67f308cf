import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { changedSources } from "../../../../src/plugin/define/digest.ts";
import { changed, workspace } from "../../plan/pipeline/workspace.ts";

const agent = `import { defineAgent } from "everturn/plugin";
import { twice } from "./twice.ts";
export default defineAgent(async ({ task }) => twice(task.prompt));
`;

test("a module that a plugin's configuration names, and those that it imports, are noticed when they change", async () => {
  const folder = workspace({
    ...changed(
      "pipeline.yaml",
      "loop: { plugin: loop-test, config: {} }",
      "loop: { plugin: loop-agent, config: { module: ./agent.ts } }",
    ),
    "agent.ts": agent,
    "twice.ts": "export const twice = (one: unknown) => [one, one];\n",
  });
  const plan = await loadPlan(join(folder, "pipeline.yaml"));
  expect(changedSources(plan)).toEqual([]);
  writeFileSync(join(folder, "twice.ts"), "export const twice = (one: unknown) => [one, one, one];\n");
  expect(changedSources(plan)).toEqual([join(folder, "twice.ts")]);
  const { moduleDigests: _later, ...earlier } = plan;
  expect(changedSources(earlier), "a plan of an earlier release").toEqual([]);
});
