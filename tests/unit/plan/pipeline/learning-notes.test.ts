import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isEverturnError } from "../../../../src/base/errors/everturn-error.ts";
import { checkPipeline } from "../../../../src/plan/pipeline/load-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const small = join(root, "tests", "pipelines", "small.yaml");
const folder = temporaryFolder();

async function notes(...overrides: string[]): Promise<string[]> {
  return (await checkPipeline(small, { overrides })).notes;
}

async function refusals(...overrides: string[]): Promise<string[]> {
  try {
    await checkPipeline(small, { overrides });
  } catch (error) {
    if (!isEverturnError(error) || error.code !== "WRONG_CONFIGURATION") throw error;
    return error.problems.map(({ message }) => message);
  }
  return [];
}

const groups = [
  "trainer.config.algorithm=grpo",
  "rollout.groupSize=4",
  "trainer.config.learningRate=1e-4",
] as const;

/** A pipeline with few long steps, of which nothing else is noted. */
const long = "steps=40";

describe("what no step could learn from is refused:", () => {
  it("greedy actions in groups", async () => {
    expect(await refusals(...groups, "rollout.temperature=0")).toEqual([
      expect.stringMatching(/rollout\.temperature is 0, so all trajectories of a group are the same.*Set it/),
    ]);
    expect(await refusals(...groups, "rollout.temperature=0", "steps=0")).toEqual([]);
  });

  it("values that alone learn in every step", async () => {
    expect(await refusals("trainer.config.valueWarmupSteps=3")).toEqual([
      expect.stringMatching(/valueWarmupSteps is 3, but the run has 3 steps: only values are learned/),
    ]);
    expect(await refusals("trainer.config.valueWarmupSteps=2")).toEqual([]);
  });
});

describe("what may teach little is noted:", () => {
  it.each<[what: string, note: RegExp, overrides: string[]]>([
    [
      "a high learning rate",
      /^trainer\.config\.learningRate is 0\.5; the default for these weights is 0\.0001\. A rate this high/,
      ["trainer.config.learningRate=0.5"],
    ],
    [
      "a low learning rate",
      /^trainer\.config\.learningRate is 1e-7; .* hardly changes$/,
      ["trainer.config.learningRate=1e-7"],
    ],
    [
      "a high learning rate of the warm start",
      /^warmStart\.learningRate is 0\.2; the default for these weights is 0\.001\./,
      ["warmStart.learningRate=0.2"],
    ],
    ["random weights without a warm start", /^policy: it has random weights/, ["warmStart=null"]],
    [
      "a low temperature",
      /^rollout\.temperature is 0\.1: the trajectories of a group are often the same/,
      [...groups, "rollout.temperature=0.1"],
    ],
    [
      "a long warm-up",
      /^trainer\.config\.warmupSteps is 400, .* never exceeds 10 % of its value$/,
      [long, "trainer.config.warmupSteps=400"],
    ],
    [
      "a short decay",
      /^trainer\.config\.decaySteps is 10, .* the learning rate is 0 in the last 30\./,
      [long, "trainer.config.decay=linear", "trainer.config.decaySteps=10"],
    ],
    [
      "many updates per step",
      /^trainer\.config: 4 epochs over 16 trajectories in minibatches of 1 are 64 updates per step/,
      ["trainer.config.epochs=4", "trainer.config.minibatchSize=1"],
    ],
    [
      "few tasks",
      /^dataset\.train: Each of the 2 training tasks is used about 320 times/,
      [long, "dataset.train.config.limit=2"],
    ],
    [
      "tasks that are not held out",
      /^dataset\.validation: 300 of its 300 tasks are also training tasks/,
      [`dataset.train.config.path=${join(root, "pipelines/calculator/chain-sum-small.val.jsonl")}`],
    ],
    [
      "a single turn with tools",
      /^loop\.config\.maxTurns is 1: .* a tool's result never reaches an answer/,
      ["loop.config.maxTurns=1"],
    ],
    [
      "actions without room for a call",
      /^tokens: the shortest call of a tool has \d+, but rollout\.maxActionTokens is 4/,
      ["rollout.maxActionTokens=4", "warmStart=null"],
    ],
    [
      "prompts that leave no room",
      /^tokens: half of the prompts leave at most \d+ of rollout\.limits\.tokens \(90\)/,
      ["rollout.limits.tokens=90", "rollout.maxActionTokens=200"],
    ],
  ])("%s", async (_, note, overrides) => {
    const found = await notes(...overrides);
    expect(found.filter((one) => note.test(one))).toHaveLength(1);
  });

  it("nothing in a healthy pipeline, nor in an evaluation or steps on examples", async () => {
    expect(await notes()).toEqual([]);
    expect(await notes(...groups, long)).toEqual([]);
    expect(await notes("steps=0", "warmStart=null", "rollout.temperature=0")).toEqual([]);
    const path = join(folder, "sums.jsonl");
    const row = {
      data_source: "sums",
      prompt: [{ role: "user", content: "1 + 1" }],
      reward_model: { ground_truth: "2" },
    };
    writeFileSync(path, `${JSON.stringify(row)}\n`);
    expect(await notes(`dataset.validation.config.path=${path}`)).toEqual([]);
  });
});
