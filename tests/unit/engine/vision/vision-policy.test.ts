import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import policy from "../../../../plugins/policy-onnx/index.ts";
import trainer from "../../../../plugins/trainer-onnx/index.ts";
import { openWeights } from "../../../../src/engine/models/weights/checkpoint.ts";
import { readSafetensors } from "../../../../src/engine/models/weights/safetensors.ts";
import { isVisionWeight } from "../../../../src/engine/models/weights/vision-weights.ts";
import { config, demonstrations, image, readImage, root, seen } from "./small-vision.ts";

test("a policy with a random vision part samples from what it sees", async () => {
  expect(await policy.check?.(config)).toEqual([]);
  expect(policy.traits?.(config).readsImages).toBe(true);
  const folder = join(root, "policy");
  await policy.initialize(folder, config, 1);
  const names = [...(await readSafetensors(join(folder, "model.safetensors"))).keys()];
  expect(names).toContain("model.text_model.embed_tokens.weight");
  expect(names).toContain("model.vision_model.post_layernorm.weight");
  expect(policy.traits?.({ model: folder }).readsImages).toBe(true);
  const opened = await policy.open(folder, config);
  expect(opened.readsImages).toBe(true);
  await opened.load(0, folder);
  const sample = async (name: string) => {
    const sampling = { temperature: 0, maxTokens: 4 };
    const key = { seed: 1, trajectory: "t", turn: 0 };
    const { logprobs } = await opened.generate({ ...seen(name), version: 0, sampling, key, readImage });
    return logprobs;
  };
  const [first, other, again] = [await sample("odd.png"), await sample("gray.png"), await sample("odd.png")];
  expect(again).toEqual(first);
  expect(other).not.toEqual(first);
  const short = { tokens: [5, image, image], images: [{ sha256: "odd.png", start: 1 }] };
  const sampling = { temperature: 0, maxTokens: 4 };
  const request = { ...short, version: 0, sampling, key: { seed: 1, trajectory: "t", turn: 1 }, readImage };
  await expect(opened.generate(request)).rejects.toThrow("takes 4 tokens, but only 2 follow");
  await opened.close();
});

test("a trainer learns from what it sees and keeps the vision part", async () => {
  const folder = join(root, "start");
  await policy.initialize(folder, config, 2);
  const settings = { algorithm: "grpo", learningRate: 0.01, minibatchSize: 2 };
  const opened = await trainer.open({ initial: folder, policy: folder, readImage }, settings, 1);
  const losses: number[] = [];
  for (let step = 0; step < 20; step++) {
    const { loss } = await opened.supervisedStep(demonstrations, { learningRate: 0.01, steps: 20 });
    losses.push(loss);
  }
  // Only the image tells the two apart.
  expect(losses.at(-1)!).toBeLessThan(0.2);
  const [next, state] = [join(root, "next"), join(root, "state")];
  await opened.save(next, state);
  await opened.close();
  const [before, after] = [await openWeights(folder), await openWeights(next)];
  expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
  for (const [name, tensor] of before) {
    const isSame = Buffer.from((await tensor.load()).data.buffer).equals(
      Buffer.from((await after.get(name)!.load()).data.buffer),
    );
    if (isVisionWeight(name)) expect(isSame, name).toBe(true);
  }
  expect(await readFile(join(next, "preprocessor_config.json"), "utf8")).toContain("SmolVLM");
});
