import { join } from "node:path";
import { expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import { changePlan } from "../../../../src/plan/pipeline/change-plan.ts";
import { checkPipeline } from "../../../../src/plan/pipeline/load-plan.ts";
import { offeredTools } from "../../../../src/plan/pipeline/resolve/tool-definitions.ts";
import { changed, fileOf, refused, workspace } from "./workspace.ts";

const task = (agent_name?: string) =>
  JSON.stringify(
    defined({
      data_source: "test",
      prompt: [{ role: "user", content: "1 + 1" }],
      reward_model: { ground_truth: "2" },
      agent_name,
    }),
  );
const tasks = (...agents: (string | undefined)[]) => ({ "tasks.jsonl": `${agents.map(task).join("\n")}\n` });
const withLoops = (loops: string, tools = "") =>
  changed(
    "pipeline.yaml",
    "loop: { plugin: loop-test, config: {} }",
    `loop: { plugin: loop-test${tools} }\nloops:\n${loops.replace(/^/gm, "  ")}`,
  );
const two =
  "direct: { plugin: loop-tool-agent, tools: [], config: { maxTurns: 1 } }\nsearch_agent: loop-tool-agent";

test("a task's agent_name picks one of the pipeline's loops; those without have the pipeline's own", async () => {
  const folder = workspace({ ...withLoops(two), ...tasks(undefined, "direct", "direct", "search_agent") });
  const { plan, notes } = await checkPipeline(join(folder, "pipeline.yaml"));
  expect(plan.loop).toMatchObject({ name: "loop-test" });
  expect(plan.loops).toMatchObject({
    direct: { name: "loop-tool-agent", tools: [], config: { maxTurns: 1, maxCalls: 64 } },
    search_agent: { name: "loop-tool-agent", config: { maxTurns: 8 } },
  });
  expect(notes).toContain(
    "loops of the training tasks: loop-test 1, direct 2, search_agent 1; of the held-out ones: loop-test 1, direct 0, search_agent 0",
  );
  expect(offeredTools(plan).map(({ name }) => name)).toEqual(["calculator"]);
  expect(offeredTools(plan, plan.loops?.direct)).toEqual([]);
  expect(changePlan(plan, ["steps=3"], 0).plan.loops).toEqual(plan.loops);
  expect(() => changePlan(plan, ["loops.direct.config.maxTurns=2"], 0)).toThrow(
    "the trajectories so far were made with them",
  );
});

test("a tool that is for loops is told to the policy where a loop names it alone", async () => {
  const manifest = fileOf("plugins/tool-test/everturn.plugin.json");
  const forLoops = manifest.replace('"name": "lookup"', '"name": "lookup", "forLoops": true');
  const folder = workspace({
    "pipeline.yaml": fileOf("pipeline.yaml").replace("tools:\n", "tools:\n  - tool-test\n"),
    "plugins/tool-test/everturn.plugin.json": forLoops,
  });
  const { plan } = await checkPipeline(join(folder, "pipeline.yaml"));
  expect(offeredTools(plan).map(({ name }) => name)).toEqual(["calculator"]);
  expect(offeredTools(plan, { tools: ["lookup"] }).map(({ name }) => name)).toEqual(["lookup"]);
});

test.each([
  [
    "a name that the pipeline has not, once with its first row and the nearest name",
    { ...withLoops(two), ...tasks(undefined, "serch_agent", "serch_agent", "constructor") },
    "tasks.jsonl:2: there is no agent loop “serch_agent”, but 2 tasks of dataset.train ask for it in agent_name. Did you mean “search_agent”? The loops are: direct, search_agent.",
  ],
  [
    "a name where the pipeline has one loop alone",
    tasks("tool_agent"),
    "tasks.jsonl:1: there is no agent loop “tool_agent”, but a task of dataset.train asks for it in agent_name. Add it to `loops`",
  ],
  [
    "tools that no tool is called",
    withLoops(two, ", tools: [calcullator]"),
    "loop.tools[0] is “calcullator”, which no tool is called. Did you mean “calculator”?",
  ],
  ["no loops", withLoops("{}"), "loops"],
  ["a name that is none", withLoops("7 up: loop-test"), "7 up"],
  ["a plugin of another kind", withLoops("direct: tool-calculator"), "tool-calculator"],
  [
    "a configuration that its loop has not",
    withLoops("direct: { plugin: loop-test, config: { maxTurns: 1 } }"),
    "unknown key “maxTurns” in loops.direct.config",
  ],
  [
    "another loop of the same name",
    {
      ...withLoops("other: ./other"),
      "other/everturn.plugin.json": fileOf("plugins/loop-test/everturn.plugin.json"),
      "other/workflow.js": fileOf("plugins/loop-test/workflow.js"),
    },
    "loops.other.plugin is called “loop-test”, as another loop at loop is",
  ],
])("refused: %s", async (_, changes, message) => {
  expect(await refused(changes)).toContain(message);
});
