import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import policy from "../../../../plugins/policy-onnx/index.ts";
import trainer from "../../../../plugins/trainer-onnx/index.ts";
import type { TrainerFolders, TrainerSurroundings } from "../../../../src/contracts/trainer.ts";
import { readVisionWeights } from "../../../../src/engine/models/weights/checkpoint.ts";
import { config, demonstrations, readImage, root } from "./small-vision.ts";

const initial = join(root, "initial");
await policy.initialize(initial, config, 3);
const settings = { algorithm: "grpo", learningRate: 0.01, minibatchSize: 2, freezeVisionTower: false };

/** Makes supervised steps on the demonstrations, and saves the policy and the trainer's state under a name. */
async function trained(name: string, from: Partial<TrainerFolders>, steps: number, given = settings) {
  const opened = await trainer.open({ initial, policy: initial, readImage, ...from }, given, 1);
  for (let step = 0; step < steps; step++)
    await opened.supervisedStep(demonstrations, { learningRate: 0.01, steps: 20 });
  const folders = { policy: join(root, name), state: join(root, `${name}-state`) };
  await opened.save(folders.policy, folders.state);
  await opened.close();
  return folders;
}

/** Returns the log-probabilities of a demonstration's first action token at temperature 1, as the sampler sees it. */
async function sampled(opened: Awaited<ReturnType<typeof policy.open>>, version: number) {
  const { tokens, images } = demonstrations[0]!;
  const sampling = { temperature: 1, maxTokens: 2 };
  const key = { seed: 5, trajectory: "t", turn: 0 };
  return opened.generate({ tokens: tokens.slice(0, 5), images, version, sampling, key, readImage });
}

test("a trained vision part is saved, and continues to the last bit", async () => {
  const whole = await trained("whole", {}, 4);
  const half = await trained("half", {}, 2);
  const rest = await trained("rest", half, 2);
  const [before, after] = [await readVisionWeights(initial), await readVisionWeights(whole.policy)];
  expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
  for (const [name, { data }] of before) expect(after.get(name)!.data, name).not.toEqual(data);
  for (const file of ["policy/model.safetensors", "state/optimizer.safetensors"]) {
    const [kind, name] = file.split("/") as ["policy" | "state", string];
    const [own, other] = [await readFile(join(rest[kind], name)), await readFile(join(whole[kind], name))];
    expect(own.equals(other), name).toBe(true);
  }
});

test("the sampler sees with the vision part of each version, as the trainer does", async () => {
  const next = await trained("next", {}, 3);
  const opened = await policy.open(initial, config);
  await opened.load(0, initial);
  const first = await sampled(opened, 0);
  await opened.load(1, next.policy);
  const second = await sampled(opened, 1);
  expect(await sampled(opened, 0)).toEqual(first);
  expect(second.logprobs).not.toEqual(first.logprobs);
  const { tokens, images } = demonstrations[0]!;
  const sequence = {
    tokens: [...tokens.slice(0, 5), ...second.tokens],
    mask: [0, 0, 0, 0, 0, ...second.tokens.map(() => 1)],
    images,
  };
  const learning = await trainer.open({ initial, ...next, reference: initial, readImage }, settings, 1);
  const [score] = await learning.score!([sequence], "policy");
  const total = second.logprobs.reduce((sum, one) => sum + one, 0);
  expect(Math.abs(score! - total)).toBeLessThan(1e-5);
  await learning.close();
  await opened.close();
});

test("the reference keeps its own vision part while the policy's is trained", async () => {
  const learning = await trainer.open(
    { initial, policy: initial, reference: initial, readImage },
    settings,
    1,
  );
  const before = await learning.score!(demonstrations, "policy");
  for (let step = 0; step < 3; step++)
    await learning.supervisedStep(demonstrations, { learningRate: 0.01, steps: 20 });
  const [after, reference] = [
    await learning.score!(demonstrations, "policy"),
    await learning.score!(demonstrations, "reference"),
  ];
  for (const [at, score] of before.entries()) {
    expect(Math.abs(reference[at]! - score)).toBeLessThan(1e-5);
    expect(after[at]! - score).toBeGreaterThan(0.1);
  }
  await learning.close();
});

test("a vision part is not trained with lora, on a GPU, in half precision, or if there is none", async () => {
  const surroundings: TrainerSurroundings = {
    groupSize: 2,
    batchSize: 2,
    staleness: 0,
    policy: { pretrained: false, restrictions: [], readsImages: true },
  };
  const problems = async (given: object, traits = surroundings.policy) => {
    const found = await trainer.check?.({ ...settings, ...given }, { ...surroundings, policy: traits });
    return found?.filter(({ key }) => key === "freezeVisionTower").map(({ reason }) => reason);
  };
  expect(await problems({})).toEqual([]);
  expect(await problems({ lora: { rank: 1, alpha: 1, targets: ["q_proj"] } })).toEqual([
    "is false, but there is lora, whose versions contain no vision part",
  ]);
  expect(await problems({ device: "cuda" })).toEqual([
    "is false, but the device is cuda, and the vision part is trained on the CPU",
  ]);
  expect(await problems({ device: "cuda", precision: "float16" })).toHaveLength(2);
  expect(await problems({ algorithm: "ppo", critic: "model" })).toHaveLength(1);
  expect(await problems({}, { pretrained: false, restrictions: [] })).toEqual([
    "is false, but the policy reads only text",
  ]);
  expect(await problems({ freezeVisionTower: true, device: "cuda" })).toEqual([]);
});
