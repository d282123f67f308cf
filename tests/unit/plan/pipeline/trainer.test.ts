import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { changed, refused, workspace } from "./workspace.ts";

const lossManifest = JSON.stringify({
  name: "loss-own",
  kind: "loss",
  version: "0.1.0",
  engines: { everturn: "^0.3.0" },
  entry: "./index.js",
  config: {
    type: "object",
    additionalProperties: false,
    properties: { strength: { type: "number", default: 3 } },
  },
});

function withLoss(entry: string, loss: string) {
  return {
    ...changed("pipeline.yaml", "    learningRate: 1e-4", `    learningRate: 1e-4\n  loss: ${loss}`),
    "losses/own/everturn.plugin.json": lossManifest,
    "losses/own/index.js": entry,
  };
}

function withTrainer(config: string) {
  return changed(
    "pipeline.yaml",
    "  plugin: trainer-test\n  config:\n    learningRate: 1e-4",
    `  plugin: trainer-onnx\n  config: { minibatchSize: 8, ${config} }`,
  );
}

describe("a loss of one's own", () => {
  it("is resolved with the plan, its configuration checked and filled", async () => {
    const folder = workspace(
      withLoss("export default ({ advantages }) => advantages;", "{ plugin: ./losses/own }"),
    );
    const { trainer } = await loadPlan(join(folder, "pipeline.yaml"));
    expect(trainer).toMatchObject({
      name: "trainer-test",
      loss: { name: "loss-own", config: { strength: 3 } },
    });
    expect(trainer.loss?.entry).toBe(join(folder, "losses", "own", "index.js"));
  });

  it("that is no function is refused", async () => {
    expect(
      await refused(withLoss("export default { loss() {} };", "{ plugin: ./losses/own }")),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:20:19: the plugin can't be used. loss-own: the default export of losses/own/index.js is not a function. A loss plugin's default export is a function (tokens, config) => losses.
      Correct it and run again."
    `);
  });

  it("that gets a wrong configuration is refused", async () => {
    expect(
      await refused(
        withLoss("export default () => {};", "{ plugin: ./losses/own, config: { strenght: 1 } }"),
      ),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:20:43: unknown key “strenght” in trainer.loss.config. Did you mean “strength”? Known keys: strength.
      Correct it and run again."
    `);
  });
});

describe("a trainer's settings that don't go together", () => {
  it("are refused where they stand", async () => {
    expect(
      await refused({ ...withTrainer("algorithm: gspo, aggregation: token-mean, klTarget: 0.1") }),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 2 problems found:
      pipeline.yaml:18:42: trainer.config.algorithm is gspo, whose klCoefficient is 0, which a klTarget can't steer. Give it a value to start from, such as 0.01, or remove klTarget.
      pipeline.yaml:18:61: trainer.config.aggregation is token-mean, which would count the ratio of a whole sequence once for each of its tokens. Use sequence-mean, or set ratio to token.
      Correct it and run again."
    `);
  });

  it("with the rollout are refused: groups of one", async () => {
    expect(await refused(withTrainer("algorithm: grpo"), ["rollout.groupSize=1"])).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:18:42: trainer.config.algorithm is grpo, whose advantages is group-mean, which compares the trajectories of a task, but rollout.groupSize is 1. Set rollout.groupSize to 2 or more (8 is usual), or take the algorithm ppo or reinforce++.
      Correct it and run again."
    `);
  });

  it("with the rollout are refused: staleness without a correction, and a smallest group above the group's size", async () => {
    expect(
      await refused(withTrainer("algorithm: grpo, importanceCorrection: none"), [
        "rollout.staleness=2",
        "rollout.groupSize=8",
      ]),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:18:70: trainer.config.importanceCorrection is none, but rollout.staleness is 2: what older versions sampled would count as the newest one's. Remove it: it is then token-truncate. Or set it to that or to sequence-truncate.
      Correct it and run again."
    `);
    expect(await refused(withTrainer("algorithm: ppo"), ["rollout.minGroup=3"])).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      override rollout.minGroup=3: rollout.minGroup is 3, but rollout.groupSize is 2: every group would be replaced. Set it to 2 or less.
      Correct it and run again."
    `);
    expect(
      await refused(withTrainer("importanceCorrection: token-mask"), [
        "rollout.staleness=9",
        "rollout.batchSize=1024",
      ]),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      override rollout.staleness=9: rollout.staleness is 9, but then 10 batches of 1024 trajectories, 10240, may be under way: more than 10000. Set it to 8 or less.
      Correct it and run again."
    `);
    expect(await refused(withTrainer("algorithm: ppo"), ["rollout.batchSize=6144"])).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      override rollout.batchSize=6144: rollout.batchSize is 6144, but a step receives all its trajectories at once, and Temporal accepts at most 5000. Set it to 5000 or less.
      Correct it and run again."
    `);
  });

  it("a division of updates into more portions than trajectories, on a GPU, and of steps on examples", async () => {
    const problem = async (settings: string, more: readonly string[] = []) =>
      (await refused(withTrainer(settings), [...more]))
        .split("\n")
        .find((line) => line.includes("dataParallel"));
    expect(await problem("dataParallel: 9")).toContain(
      "trainer.config.dataParallel is 9, but an update has only 8 trajectories. Set it to 8 or less, or raise minibatchSize.",
    );
    expect(await problem("dataParallel: 2, device: webgpu")).toContain(
      "trainer.config.dataParallel is 2, but the device webgpu computes whole updates. Remove it, or take the device cpu.",
    );
    expect(await problem("dataParallel: 1")).toContain("dataParallel is 1, but must be at least 2");
    expect(await problem("dataParallel: 2", ['sft={"demonstrations":"none.jsonl"}'])).toContain(
      "trainer.config.dataParallel is there, but one trainer computes each step of sft. Remove it.",
    );
    expect(await problem("dataParallel: 2", ["trainer.plugin=trainer-tinker"])).toContain(
      "unknown key “dataParallel” in trainer.config",
    );
  });

  it("an algorithm that doesn't exist", async () => {
    expect(await refused(withTrainer("algorithm: gpro"))).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:18:42: trainer.config.algorithm is “gpro”, but must be one of ppo, grpo, dr-grpo, dapo, rloo, reinforce++, reinforce++-baseline, gspo. Did you mean “grpo”?
      Correct it and run again."
    `);
  });
});
