import { expect, test } from "vitest";
import { batchFeeds, batchSequences, type TokenSequence } from "../../../../src/engine/learning/batch.ts";
import { adapterShapes, freshAdapter, type LoraSettings } from "../../../../src/engine/learning/lora.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";
import { freshTrainerState, parametersOf } from "../../../../src/engine/learning/trainer-state.ts";
import { createTrainingEngine } from "../../../../src/engine/learning/training-engine.ts";
import { gradientName, trainingModel } from "../../../../src/engine/learning/training-graphs.ts";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { relativeError, torchFixture, withPrefix } from "../../torch-fixtures.ts";

const { config, json, tensors } = await torchFixture("lora");
const lora = json.lora as LoraSettings;
const sequences = json.sequences as TokenSequence[];
const weights = withPrefix(tensors, "base.");
const adapter = withPrefix(tensors, "adapter.");

const actions = sequences.flatMap(({ mask }) => mask).filter(Boolean).length;
const samples = sequences.map((sequence) => {
  const count = sequence.mask.filter(Boolean).length;
  return { sequences: [sequence], columns: { weights: new Float32Array(count).fill(1 / actions) } };
});
const settings = { gradientClip: 1, weightDecay: 0, threads: 1 };

function open(state = freshTrainerState({ config, lora }, weights, 1)) {
  return createTrainingEngine({ config, lora, state, ...settings });
}

test.each([false, true])(
  "the loss and the adapter's gradients are PEFT's (recompute: %s)",
  async (recompute) => {
    const model = trainingModel({ config, lora, recompute }, supervisedObjective);
    const session = await createModelSession(model.bytes, { threads: 1 });
    const parameters = parametersOf({ ...freshTrainerState({ config, lora }, weights), adapter });
    const outputs = await session.run({
      ...Object.fromEntries(model.reads.map((name) => [name, parameters.get(name)!])),
      ...batchFeeds(batchSequences(sequences, config)),
      weights: { shape: [actions], data: new Float32Array(actions).fill(1 / actions) },
    });
    expect(outputs.floats("loss")[0]).toBeCloseTo(Number(json.loss), 5);
    expect(model.trains.sort()).toEqual([...adapter.keys()].sort());
    for (const name of model.trains) {
      const expected = tensors.get(`gradient.${name}`)!.data;
      expect(relativeError(outputs.floats(gradientName(name)), expected), name).toBeLessThan(1e-4);
    }
    await session.close();
  },
);

test("updates change the adapter alone; the reference is the base weights without one", async () => {
  const engine = open();
  const before = new Map([...weights].map(([name, { data }]) => [name, data.slice()]));
  const policy = await engine.score(sequences, "policy");
  const reference = await engine.score(sequences, "reference");
  policy.forEach(({ logProbabilities }, index) => {
    expect(relativeError(logProbabilities, reference[index]!.logProbabilities)).toBeLessThan(1e-6);
  });
  const losses = [];
  for (let update = 0; update < 20; update++) {
    const request = { objective: supervisedObjective, samples, scalars: {}, learningRate: 0.02 };
    losses.push((await engine.update(request)).loss);
  }
  expect(losses.at(-1)).toBeLessThan(losses[0]! / 2);
  for (const [name, data] of before) expect(engine.state.weights.get(name)?.data, name).toEqual(data);
  const after = await engine.score(sequences, "reference");
  expect(after).toEqual(reference);
  await engine.close();
});

test("a reference adapter is read once, when it is first wanted", async () => {
  let read = 0;
  const state = freshTrainerState({ config, lora }, weights, 1);
  const engine = createTrainingEngine({
    config,
    lora,
    state,
    ...settings,
    reference: async () => {
      read++;
      return adapter;
    },
  });
  expect(read).toBe(0);
  const scores = await engine.score(sequences, "reference");
  await engine.score(sequences, "reference");
  expect(read).toBe(1);
  const mean =
    scores.flatMap(({ logProbabilities }) => [...logProbabilities]).reduce((a, b) => a + b, 0) / actions;
  expect(mean).toBeCloseTo(-Number(json.loss), 5);
  await engine.close();
});

test("the same seed gives the same adapter, bit by bit, and after updates too", async () => {
  expect(freshAdapter(config, lora, 1)).toEqual(freshAdapter(config, lora, 1));
  expect(freshAdapter(config, lora, 1)).not.toEqual(freshAdapter(config, lora, 2));
  const [first, second] = [open(), open()];
  for (const engine of [first, second]) {
    await engine.update({ objective: supervisedObjective, samples, scalars: {}, learningRate: 0.01 });
  }
  expect(first.state.adapter).toEqual(second.state.adapter);
  await first.close();
  await second.close();
});

test("a state with another adapter is refused", () => {
  const state = freshTrainerState({ config, lora: { ...lora, rank: 2 } }, weights);
  expect(() => open(state)).toThrow("lora_A.weight should be [3, 16], but is [2, 16]");
  expect(() => createTrainingEngine({ config, state, ...settings })).toThrow("belongs to no adapter");
});

test("only the named maps are adapted", () => {
  const shapes = adapterShapes(config, { ...lora, targets: ["gate_proj"] });
  expect([...shapes]).toEqual([
    ["model.layers.0.mlp.gate_proj.lora_A.weight", [3, 16]],
    ["model.layers.0.mlp.gate_proj.lora_B.weight", [24, 3]],
    ["model.layers.1.mlp.gate_proj.lora_A.weight", [3, 16]],
    ["model.layers.1.mlp.gate_proj.lora_B.weight", [24, 3]],
  ]);
});

test("a map that does what several do elsewhere is adapted if one of them is named", () => {
  const shapes = adapterShapes(modelConfig({ ...config, model_type: "phi3" }), {
    rank: 2,
    alpha: 2,
    targets: ["v_proj", "up_proj", "o_proj"],
  });
  const modules = [...shapes.keys()].map((name) => name.split(".").slice(2, 5).join("."));
  expect(new Set(modules.filter((name) => name.startsWith("0.")))).toEqual(
    new Set(["0.self_attn.qkv_proj", "0.self_attn.o_proj", "0.mlp.gate_up_proj"]),
  );
});
