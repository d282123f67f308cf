import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import policy from "../../../../plugins/policy-onnx/index.ts";
import { writeNextPolicyFolder } from "../../../../src/engine/models/weights/policy-folder.ts";
import { readSafetensors } from "../../../../src/engine/models/weights/safetensors.ts";

const folder = await mkdtemp(join(tmpdir(), "everturn-policy-"));
const architecture = {
  hidden_size: 32,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  intermediate_size: 40,
  max_position_embeddings: 64,
};
const tokenizer = join(import.meta.dirname, "../tokens/fixtures/tokenizer");
const randomConfig = { tokenizer, architecture };
const sampling = { temperature: 1, maxTokens: 8 };
const key = { seed: 1, trajectory: "t", turn: 0 };

test("writes the folder of a new policy, the same for the same seed", async () => {
  await policy.initialize(join(folder, "a"), randomConfig, 1);
  await policy.initialize(join(folder, "b"), randomConfig, 1);
  await policy.initialize(join(folder, "c"), randomConfig, 2);
  const files = [
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
  ];
  expect((await readdir(join(folder, "a"))).sort()).toEqual(files);
  const [a, b, c] = await Promise.all(
    ["a", "b", "c"].map((name) => readFile(join(folder, name, "model.safetensors"))),
  );
  expect(a).toEqual(b);
  expect(a).not.toEqual(c);
  expect(JSON.parse(await readFile(join(folder, "a/config.json"), "utf8"))).toMatchObject({
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
    torch_dtype: "float32",
    vocab_size: 340,
    num_key_value_heads: 2,
    bos_token_id: null,
    eos_token_id: 2,
    pad_token_id: 0,
  });
});

test("generates with each version's own weights", async () => {
  const first = join(folder, "v0");
  const next = join(folder, "v1");
  await policy.initialize(first, randomConfig, 1);
  const weights = await readSafetensors(join(first, "model.safetensors"));
  const other = new Map(
    [...weights].map(([name, { shape, data }]) => [name, { shape, data: data.map((value) => -3 * value) }]),
  );
  await writeNextPolicyFolder(next, first, other);
  expect(await readdir(next)).toEqual(await readdir(first));

  const opened = await policy.open(next, randomConfig);
  await Promise.all([opened.load(0, first), opened.load(1, next), opened.load(1, next)]);
  const { tokens } = opened.framePrompt([{ role: "user", content: "1 + 2" }], []);
  const [a, b] = await Promise.all(
    [0, 1].map((version) => opened.generate({ tokens, version, sampling, key })),
  );
  expect(a?.tokens).not.toEqual(b?.tokens);
  expect(a?.logprobs).toHaveLength(a?.tokens.length ?? 0);
  await opened.close();
});

test("an action's text leaves out the token that ends it", async () => {
  const path = join(folder, "stop");
  await policy.initialize(path, randomConfig, 1);
  const weights = await readSafetensors(join(path, "model.safetensors"));
  // A model that ends every action at once: all hidden states are ones, and only <|im_end|> likes ones.
  weights.get("model.embed_tokens.weight")?.data.fill(1);
  for (const name of ["self_attn.o_proj", "mlp.down_proj"]) {
    weights.get(`model.layers.0.${name}.weight`)?.data.fill(0);
  }
  weights
    .get("lm_head.weight")
    ?.data.fill(0)
    .fill(1, 2 * 32, 3 * 32);
  const ended = join(folder, "ended");
  await writeNextPolicyFolder(ended, path, weights);
  const opened = await policy.open(ended, randomConfig);
  await opened.load(0, ended);
  const { tokens } = opened.framePrompt([{ role: "user", content: "1 + 2" }], []);
  const action = await opened.generate({ tokens, version: 0, sampling, key });
  expect(action).toMatchObject({ tokens: [2], text: "", finishReason: "stop" });
  expect(action.logprobs[0]).toBeCloseTo(0, 5);
  await opened.close();
});

test("a stop token of the pipeline, and one of generation_config.json, end an action", async () => {
  const path = join(folder, "stop-tokens");
  await policy.initialize(path, randomConfig, 1);
  const file = join(path, "generation_config.json");
  const read = async () => JSON.parse(await readFile(file, "utf8"));
  expect((await read()).eos_token_id).toBe(2);
  const generate = async () => {
    const opened = await policy.open(path, randomConfig);
    await opened.load(0, path);
    const { tokens } = opened.framePrompt([{ role: "user", content: "1 + 2" }], []);
    const action = await opened.generate({ tokens, version: 0, sampling, key });
    await opened.close();
    return action;
  };
  const free = await generate();
  expect(free.finishReason).toBe("length");
  await writeFile(file, JSON.stringify({ ...(await read()), eos_token_id: [2, free.tokens[3]] }));
  const named = await generate();
  expect(named).toMatchObject({ tokens: free.tokens.slice(0, 4), finishReason: "stop" });
  expect(free.text.startsWith(named.text)).toBe(true);
  expect(named.text).not.toBe("");

  const { model } = JSON.parse(await readFile(join(tokenizer, "tokenizer.json"), "utf8"));
  const texts = Object.entries<number>(model.vocab);
  const [stop] = texts.find(([, id]) => id === free.tokens[1])!;
  const target = join(folder, "more-stop-tokens");
  await policy.initialize(target, { model: path, stopTokens: [stop] }, 1);
  const kept = JSON.parse(await readFile(join(target, "generation_config.json"), "utf8"));
  expect(kept.eos_token_id).toEqual([2, free.tokens[3], free.tokens[1]]);
  const unknown = policy.initialize(
    join(folder, "unknown"),
    { ...randomConfig, stopTokens: ["<|no such|>"] },
    1,
  );
  await expect(unknown).rejects.toThrow("contains “<|no such|>”, which is not in the vocabulary");
});

test("activations of 8 bits want a quantized model, and count as a restriction", async () => {
  const config = { model: "/models/one", activations: "int8" };
  expect(await policy.check?.(config)).toEqual([
    {
      key: "activations",
      reason: "is int8, but there is no quantization",
      help: "Remove it, or add quantization: int8 or int4.",
    },
  ]);
  const whole = { ...config, quantization: "int4" };
  expect(await policy.check?.(whole)).toEqual([]);
  expect(policy.traits?.(whole)).toMatchObject({
    quantization: "int4",
    restrictions: ["activations is int8"],
  });
  expect(policy.traits?.({ ...whole, activations: "float32" }).restrictions).toEqual([]);
  const help = "Remove it, or device and precision.";
  expect(await policy.check?.({ ...whole, device: "cuda" })).toEqual([
    { key: "activations", reason: "is int8, which is for float32 on the CPU", help },
  ]);
});

test("WebGPU has no bfloat16, which is said before a run", async () => {
  const config = { model: "/models/one", device: "webgpu" };
  expect(await policy.check?.({ ...config, precision: "float16" })).toEqual([]);
  const reason = "is bfloat16, which the device webgpu does not have";
  expect(await policy.check?.({ ...config, precision: "bfloat16" })).toEqual([
    { key: "precision", reason, help: "Take float16, or the device cuda." },
  ]);
});

test("matrices of few bits are for the CPU in float32, and for cards in any precision", async () => {
  const config = { model: "/models/one", quantization: "int4" };
  const onCards = [{ device: "cuda" }, { device: "cuda", precision: "bfloat16" }, { device: "webgpu" }];
  for (const target of onCards) expect(await policy.check?.({ ...config, ...target })).toEqual([]);
  expect(await policy.check?.({ ...config, precision: "bfloat16" })).toEqual([
    {
      key: "quantization",
      reason: "is int4, which on the CPU is for float32",
      help: "Remove it, or precision; or add a device.",
    },
  ]);
});

test("half precision counts as a restriction", () => {
  const config = { model: "/models/one", device: "cuda" };
  expect(policy.traits?.(config).restrictions).toEqual([]);
  for (const precision of ["float16", "bfloat16"]) {
    expect(policy.traits?.({ ...config, precision }).restrictions).toEqual([`precision is ${precision}`]);
  }
});

test("keys and values of 8 bits are for float32 on the CPU, and count as a restriction", async () => {
  const config = { model: "/models/one", keyValues: "int8" };
  expect(await policy.check?.(config)).toEqual([]);
  expect(policy.traits?.(config).restrictions).toEqual(["keyValues is int8"]);
  expect(policy.traits?.({ ...config, keyValues: "float32" }).restrictions).toEqual([]);
  expect(await policy.check?.({ ...config, precision: "float16" })).toEqual([
    {
      key: "keyValues",
      reason: "is int8, which is for float32 on the CPU",
      help: "Remove it, or device and precision.",
    },
  ]);
});
