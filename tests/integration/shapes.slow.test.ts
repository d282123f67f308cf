import { globSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { tiesOf } from "../../src/contracts/router-ties.ts";
import { readModelConfig } from "../../src/engine/models/config/model-config-file.ts";
import { readWeights } from "../../src/engine/models/weights/checkpoint.ts";
import { readGgufHeader } from "../../src/engine/models/weights/gguf/header.ts";
import { loadTokenizer } from "../../src/engine/tokens/tokenizer.ts";
import { openRows } from "../../src/run/trajectory/folded/parquet-file.ts";
import { narrowed, publishedShapes } from "../shapes/published-shapes.ts";
import { goRoad } from "../shapes/road.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

vi.setConfig({ testTimeout: 900_000 }); // minutes of computing

const work = temporaryFolder();

// The first time, vocabularies are downloaded.
test.each([
  ["qwen2.5-0.5b", 151_936, ["<|im_end|>", "<|endoftext|>"]],
  ["llama-3.2-1b", 128_256, ["<|eot_id|>", "<|end_of_text|>"]],
  ["gemma-3-1b", 262_144, ["<turn|>", "<eos>"]],
])(
  "%s, narrowed: a model with %i tokens is imported, trained for a step of GRPO and exported",
  async (name, size, ends) => {
    const shape = narrowed(publishedShapes.get(name)!);
    const { folders, record } = await goRoad(shape, join(work, name));
    expect(record).toMatchObject({ step: 1, trajectories: 4, leftOut: 0 });
    expect(record.entropy, "over the whole vocabulary").toBeCloseTo(Math.log(size), 1);
    expect(record.gradientNorm).toBeGreaterThan(1e-6);
    expect(record.logprobGap, "recorded against recomputed log-probabilities").toBeLessThan(1e-4);

    const config = await readModelConfig(join(folders.folder, "config.json"));
    expect(config).toEqual(await readModelConfig(join(folders.model, "config.json")));
    expect(config).toMatchObject({ model_type: shape.config.model_type, vocab_size: size });
    const [before, after] = await Promise.all([folders.model, folders.folder].map(readWeights));
    const [old, trained] = [before!, after!].map((weights) =>
      weights.get("model.layers.0.self_attn.q_proj.weight"),
    );
    expect(trained?.data).not.toEqual(old?.data);
    const tokenizer = await loadTokenizer(folders.folder);
    expect(tokenizer.stopTokens.map((id) => tokenizer.decode([id]))).toEqual(ends);

    const [given, written] = [join(work, name, "random.gguf"), folders.gguf].map(readGgufHeader);
    for (const [key, value] of given!.metadata) {
      if (key.startsWith("tokenizer.")) expect([key, written!.metadata.get(key)]).toEqual([key, value]);
    }
    expect([...written!.tensors.keys()].sort()).toEqual([...given!.tensors.keys()].sort());
  },
);

test("a mixture of experts, narrowed: what its routers chose narrowly is recorded with each action, and trained on", async () => {
  const shape = narrowed(publishedShapes.get("olmoe-1b-7b")!, 2);
  const { folders, record } = await goRoad(shape, join(work, "olmoe"), { set: ["steps=2"] });
  expect(record).toMatchObject({ step: 2, trajectories: 4, leftOut: 0 });
  expect(record.logprobGap).toBeLessThan(1e-4);
  expect(await readModelConfig(join(folders.folder, "config.json"))).toMatchObject({
    model_type: "olmoe",
    experts: shape.config.experts,
  });
  const [folded = ""] = globSync(join(work, "olmoe/runs/*/steps/1/folded/*"));
  const rows = await (await openRows(folded)).read(0);
  const actions = rows.filter(({ origin }) => origin === "action");
  const told = actions.map(({ router_ties }) => tiesOf(router_ties ?? []));
  expect(told.length).toBeGreaterThanOrEqual(4);
  const prompt = rows.find(({ origin }) => origin === "prompt")?.tokens?.length ?? 0;
  for (const ties of told) {
    expect(ties.some(({ position, layer }) => position < prompt && layer === 0)).toBe(true);
    expect(ties.every(({ layer, expert }) => layer < 2 && expert < 64)).toBe(true);
  }
});
