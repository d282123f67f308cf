import { describe, expect, it } from "vitest";
import { changed, refused, withPipeline } from "./workspace.ts";

describe("a broken pipeline is refused", () => {
  it("an unknown key at the top", async () => {
    expect(await withPipeline("steps: 2", "steps: 2\nstep: 3")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:4:1: unknown key “step” in the pipeline. Did you mean “steps”?
      Correct it and run again."
    `);
  });

  it("a mix that names a data source wrongly, says nothing of another, and leaves all out", async () => {
    const mixed = "limit: 1 } }\n  mix: { tset: 0 }\ntools:";
    expect(await withPipeline("limit: 1 } }\ntools:", mixed)).toMatchInlineSnapshot(`
      "pipeline.yaml: 3 problems found:
      pipeline.yaml:10:8: dataset.mix says nothing of “test”. Give each a weight: 0 leaves its tasks out.
      pipeline.yaml:10:8: dataset.mix leaves all tasks out. Give at least one data source a weight above 0.
      pipeline.yaml:10:16: dataset.mix.tset is the share of a data source that no training task has. Did you mean “test”? Their data sources are: test.
      Correct it and run again."
    `);
  });

  it("a mix with a weight below 0", async () => {
    const mixed = "limit: 1 } }\n  mix: { test: -1 }\ntools:";
    expect(await withPipeline("limit: 1 } }\ntools:", mixed)).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:10:16: dataset.mix.test is -1, but must be at least 0. The weight of this data source.
      Correct it and run again."
    `);
  });

  it("a limit of a host that no tool has", async () => {
    expect(
      await withPipeline("steps: 2", "steps: 2\nhosts: { sandbox: { concurrency: 2 } }"),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:4:10: unknown key “sandbox” in hosts. The hosts of the tools and the reward are: reward-exact-match, calculator.
      Correct it and run again."
    `);
  });

  it("a time to approve where no approval is asked for", async () => {
    expect(await withPipeline("timeout: 2s", "approvalTimeout: 2s")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:12:5: tools[0].approvalTimeout is there, but the tool's calls need no approval. Add \`approval: required\`.
      Correct it and run again."
    `);
  });

  it("a misspelled required key, once", async () => {
    expect(await withPipeline("policy:\n", "pollicy:\n")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:4:1: unknown key “pollicy” in the pipeline. Did you mean “policy”?
      Correct it and run again."
    `);
  });

  it("a key in another case style", async () => {
    expect(await withPipeline("batchSize: 8", "batch_size: 8")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:21:3: unknown key “batch_size” in rollout. Did you mean “batchSize”? Known keys: batchSize, groupSize, temperature, maxActionTokens, format, expression, concurrency, toolRecordings, staleness, minGroup, maxInfrastructureFailures, templateCheck, prompts, observations, limits, dynamicSampling.
      Correct it and run again."
    `);
  });

  it("a key one level too high", async () => {
    expect(await withPipeline("seed: 7", "seed: 7\nbatchSize: 8")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:3:1: unknown key “batchSize” in the pipeline. It belongs in “warmStart”, “sft”, “dpo” or “rollout”.
      Correct it and run again."
    `);
  });

  it("a key of a tool and the reward at the top", async () => {
    expect(await withPipeline("seed: 7", "seed: 7\ntimeout: 5s")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:3:1: unknown key “timeout” in the pipeline. It belongs in “environment”, “tools[]” or “reward”.
      Correct it and run again."
    `);
  });

  it("a key in a tool's configuration that belongs beside it", async () => {
    expect(await withPipeline("    timeout: 2s", "    config: { timeout: 2s }")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:12:15: unknown key “timeout” in tools[0].config. It belongs one level up, next to this mapping.
      Correct it and run again."
    `);
  });

  it("an unknown key of a plugin's configuration", async () => {
    expect(await withPipeline("width: 8", "width: 8, heigth: 2")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:6:43: unknown key “heigth” in policy.config. Known keys: weights, width.
      Correct it and run again."
    `);
  });

  it("a missing section", async () => {
    expect(await withPipeline("loop: { plugin: loop-test, config: {} }\n", "")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:1:1: the pipeline lacks “loop”. Add “loop”: The agent loop, as a plugin of kind loop, for tasks that name none of \`loops\`.
      Correct it and run again."
    `);
  });

  it("a missing key of a plugin's configuration", async () => {
    expect(await withPipeline("config:\n    learningRate: 1e-4", "config: {}")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:18:3: trainer.config lacks “learningRate”. Add “learningRate”: it is required.
      Correct it and run again."
    `);
  });

  it("a plugin without its name", async () => {
    expect(
      await withPipeline("reward: { plugin: reward-exact-match, config: {} }", "reward: { config: {} }"),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:15:1: reward lacks “plugin”. Add “plugin”: A plugin's name, its package's name in quotes ("@acme/tool-search"), or a path that begins with ./ or ../, to its folder or to the module that defines it (./tools/length.ts).
      Correct it and run again."
    `);
  });

  it("text where a number belongs", async () => {
    expect(await withPipeline("steps: 2", "steps: two")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:3:8: steps must be a whole number, but is “two”. Number of steps, for example 40. 0 stops after the warm start. Optional if sft or dpo sets its epochs.
      Correct it and run again."
    `);
  });

  it("a number in quotes", async () => {
    expect(await withPipeline("learningRate: 1e-4", 'learningRate: "1e-4"')).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:19:19: trainer.config.learningRate must be a number, but is “1e-4”. Remove the quotes.
      Correct it and run again."
    `);
  });

  it("a fraction where a whole number belongs", async () => {
    expect(await withPipeline("width: 8", "width: 8.5")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:6:40: policy.config.width must be a whole number, but is 8.5. Width of a layer, from 1 to 64.
      Correct it and run again."
    `);
  });

  it("a mapping where a list belongs", async () => {
    expect(
      await withPipeline(
        "  - plugin: tool-calculator\n    timeout: 2s\n    retry: { maximumAttempts: 3 }",
        "  plugin: tool-calculator",
      ),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:11:3: tools must be a list, but is a mapping. The tools that the policy can call, each a plugin of kind tool. Default: none.
      Correct it and run again."
    `);
  });

  it("a list where a plugin belongs", async () => {
    expect(
      await withPipeline("loop: { plugin: loop-test, config: {} }", "loop: [loop-test]"),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:14:7: loop must be a mapping of keys to values, but is a list. A loop plugin, its configuration, and the tools of its tasks: { plugin: name, config: { … }, tools: [ … ] }.
      Correct it and run again."
    `);
  });

  it("an empty value", async () => {
    expect(await withPipeline("steps: 2", "steps:")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:3:1: steps must be a whole number, but is empty. Number of steps, for example 40. 0 stops after the warm start. Optional if sft or dpo sets its epochs.
      Correct it and run again."
    `);
  });

  it("a number below its minimum", async () => {
    expect(await withPipeline("groupSize: 2", "groupSize: 0")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:22:14: rollout.groupSize is 0, but must be at least 1. Trajectories per task in a step. They share an advantage baseline if the trainer uses one.
      Correct it and run again."
    `);
  });

  it("a number above the maximum of a plugin's schema", async () => {
    expect(await withPipeline("width: 8", "width: 65")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:6:40: policy.config.width is 65, but must be at most 64. Width of a layer, from 1 to 64.
      Correct it and run again."
    `);
  });

  it("a learning rate of zero", async () => {
    expect(await withPipeline("1e-4", "0")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:19:19: trainer.config.learningRate is 0, but must be more than 0. Correct the value.
      Correct it and run again."
    `);
  });

  it("an infinite temperature", async () => {
    expect(await withPipeline("groupSize: 2", "groupSize: 2\n  temperature: .inf")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:23:16: rollout.temperature must be a number, but is Infinity. Sampling temperature: 1 samples from the policy's own distribution, 0 is greedy.
      Correct it and run again."
    `);
  });

  it("a value that isn't among those allowed", async () => {
    expect(
      await withPipeline("learningRate: 1e-4", "learningRate: 1e-4\n    optimizer: adam"),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:20:16: trainer.config.optimizer is “adam”, but must be one of adamw, sgd. Did you mean “adamw”?
      Correct it and run again."
    `);
  });

  it("a name with spaces", async () => {
    expect(await withPipeline("name: test", "name: My Test")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:1:7: name is “My Test”, but isn't of the right form. Names the pipeline's runs: lower-case letters, digits and dashes.
      Correct it and run again."
    `);
  });

  it("a duration without a unit", async () => {
    expect(await withPipeline("timeout: 2s", "timeout: 2")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:12:14: tools[0].timeout must be text, but is 2. A number and ms, s, m or h, for example 500ms, 10s or 2m.
      Correct it and run again."
    `);
  });

  it("a duration in words", async () => {
    expect(await withPipeline("timeout: 2s", "timeout: 2 seconds")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:12:14: tools[0].timeout is “2 seconds”, but isn't of the right form. A number and ms, s, m or h, for example 500ms, 10s or 2m.
      Correct it and run again."
    `);
  });

  it("a batch that its groups don't divide", async () => {
    expect(await withPipeline("groupSize: 2", "groupSize: 3")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:21:14: rollout.batchSize is 8, which is not a multiple of rollout.groupSize (3). Use 12.
      Correct it and run again."
    `);
  });

  it("a batch that the trainer's minibatch, a default, doesn't divide", async () => {
    expect(await withPipeline("batchSize: 8", "batchSize: 6")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:21:14: rollout.batchSize is 6, which is not a multiple of trainer.config.minibatchSize (4, its default). Set rollout.batchSize to 4 or 8, or set trainer.config.minibatchSize to what divides 6.
      Correct it and run again."
    `);
  });

  it("two tools of one name", async () => {
    expect(
      await withPipeline(
        "  - plugin: tool-calculator",
        "  - plugin: tool-calculator\n  - plugin: tool-calculator",
      ),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:12:13: tool-calculator offers the tool “calculator”, but tools[0] (pipeline.yaml:11:13) already uses that name. Remove one of the two, or rename the tool or one of its \`functions\` with \`name\`.
      Correct it and run again."
    `);
  });

  it("a data file that doesn't exist", async () => {
    expect(
      await withPipeline("path: ./tasks.jsonl, limit", "path: ./task.jsonl, limit"),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:9:56: dataset.validation.config.path names ./task.jsonl, which doesn't exist. Did you mean “tasks.jsonl”?
      Correct it and run again."
    `);
  });

  it("a file where a folder belongs", async () => {
    expect(await withPipeline("./weights", "./tasks.jsonl")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:6:22: policy.config.weights is “./tasks.jsonl”, but must be a folder.
      Correct it and run again."
    `);
  });

  it("demonstrations that don't exist", async () => {
    expect(
      await withPipeline("seed: 7", "seed: 7\nwarmStart: { demonstrations: ./demos.jsonl, steps: 3 }"),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:3:30: warmStart.demonstrations names ./demos.jsonl, which doesn't exist. It was looked for in the pipeline's folder.
      Correct it and run again."
    `);
  });

  it("a data set without tasks", async () => {
    expect(await refused({ "tasks.jsonl": "\n" })).toMatchInlineSnapshot(`
      "pipeline.yaml: 2 problems found:
      pipeline.yaml:8:10: the data set contains no tasks. Add rows to it, or name another data set.
      pipeline.yaml:9:15: the data set contains no tasks. Add rows to it, or name another data set.
      Correct it and run again."
    `);
  });

  it("a task with a misspelled key", async () => {
    expect(await refused(changed("tasks.jsonl", "ground_truth", "groundtruth"))).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      tasks.jsonl:1:68: reward_model lacks “ground_truth”. Add “ground_truth”: The expected final answer.
      Correct it and run again."
    `);
  });

  it("a demonstration that isn't a conversation", async () => {
    const warmStart = changed(
      "pipeline.yaml",
      "seed: 7",
      "warmStart: { demonstrations: demos.jsonl, steps: 1 }",
    );
    const row = {
      messages: [
        { role: "user", content: "1 + 1" },
        { role: "model", content: "2" },
      ],
    };
    expect(await refused({ ...warmStart, "demos.jsonl": JSON.stringify(row) })).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      demos.jsonl:1:56: messages[1].role is “model”, but must be one of system, developer, user, assistant, tool. The role of the message; developer is treated as system.
      Correct it and run again."
    `);
  });

  it("several problems at once, in the order of the file", async () => {
    expect(await withPipeline("seed: 7\nsteps: 2", "sed: 7\nsteps: -1")).toMatchInlineSnapshot(`
      "pipeline.yaml: 2 problems found:
      pipeline.yaml:2:1: unknown key “sed” in the pipeline. Did you mean “seed”?
      pipeline.yaml:3:8: steps is -1, but must be at least 0. Number of steps, for example 40. 0 stops after the warm start. Optional if sft or dpo sets its epochs.
      Correct it and run again."
    `);
  });

  it("an override of the wrong type", async () => {
    expect(await refused({}, ["rollout.batchSize=many"])).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      override rollout.batchSize=many: rollout.batchSize must be a whole number, but is “many”. Trajectories per policy-gradient step. groupSize and the trainer's minibatchSize must divide it.
      Correct it and run again."
    `);
  });

  it("an override of an unknown key", async () => {
    expect(await refused({}, ["rollout.batchsize=8"])).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      override rollout.batchsize=8: unknown key “batchsize” in rollout. Did you mean “batchSize”? Known keys: batchSize, groupSize, temperature, maxActionTokens, format, expression, concurrency, toolRecordings, staleness, minGroup, maxInfrastructureFailures, templateCheck, prompts, observations, limits, dynamicSampling.
      Correct it and run again."
    `);
  });

  it("an override without a value", async () => {
    expect(await refused({}, ["steps"])).toMatchInlineSnapshot(
      `"The override “steps” has no key and value. Write it as path.to.key=value, for example rollout.batchSize=32."`,
    );
  });

  it("an override through a number", async () => {
    expect(await refused({}, ["steps.more=1"])).toMatchInlineSnapshot(
      `"The override “steps.more=1” goes through “steps”, which contains no keys. Write it as path.to.key=value, for example rollout.batchSize=32."`,
    );
  });
});
