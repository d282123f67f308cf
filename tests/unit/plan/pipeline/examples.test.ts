import { join } from "node:path";
import { expect, test } from "vitest";
import { rewardNotes } from "../../../../src/plan/pipeline/check/reward-notes.ts";
import { checkPipeline } from "../../../../src/plan/pipeline/load-plan.ts";

const pipelines = join(import.meta.dirname, "..", "..", "..", "..", "pipelines");

const examples = [
  "agent",
  "calculator",
  "calculator-dpo",
  "calculator-sft",
  "code",
  "feedback",
  "look",
  "market",
  "repair",
  "search",
  "smollm2-math",
  "sql",
  "web",
  "zoom",
];

test.each(examples)("the example %s is valid as it stands, and nothing is noted about it", async (name) => {
  await expectNoNotes(name, []);
});

/** Examples whose servers Everturn installs and starts, with the key of a server's address. */
const served = [
  ["nemo-gym", "url=http://127.0.0.1:9"],
  ["verifiers", "address=tcp://127.0.0.1:9"],
] as const;

test.each(served)("so is the example %s, once its server is there", async (name, address) => {
  await expectNoNotes(name, ["environment.config.start=null", `environment.config.${address}`]);
});

async function expectNoNotes(name: string, overrides: string[]): Promise<void> {
  const { plan, data, notes } = await checkPipeline(join(pipelines, `${name}.yaml`), { overrides });
  expect(plan.name).toBe(name);
  expect([...notes, ...(await rewardNotes(plan, data))]).toEqual([]);
}

test("tasks that a tool says it can't be used in are refused, in each set at the first of them", async () => {
  const overrides = ["tools=[{ plugin: tool-workspace, functions: [view, replace], config: { bytes: 5 } }]"];
  const refused = checkPipeline(join(pipelines, "repair.yaml"), { overrides });
  await expect(refused).rejects.toMatchObject({ code: "WRONG_CONFIGURATION" });
  const told = await refused.catch(String);
  for (const said of [
    "train.jsonl:1: the tool workspace can't be used in 1500 tasks of dataset.train: the files may take 5 bytes",
    "held-out.jsonl:1: the tool workspace can't be used in 200 tasks of dataset.validation",
  ])
    expect(told).toContain(said);
});
