import assert from "node:assert/strict";
import { join } from "node:path";
import onnx from "../../plugins/policy-onnx/index.ts";
import { openServerPolicy } from "../../src/engine/inference-servers/open-server-policy.ts";
import { sglang } from "../../src/engine/inference-servers/sglang.ts";
import { vllm } from "../../src/engine/inference-servers/vllm.ts";

/**
 * Compares a real inference server with Everturn's own sampler, by hand: `npm run engines -- FOLDER` writes two small models to start the
 * server with (docs/engines.md), `npm run engines -- FOLDER vllm|sglang URL…` compares what both write in float32.
 */
const [root = "", name, ...urls] = process.argv.slice(2);
const folders = ["model", "other"].map((folder) => join(root, folder));
const tokenizer = join(import.meta.dirname, "../../pipelines/calculator/tokenizer");
const architecture = {
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  intermediate_size: 96,
  max_position_embeddings: 512,
  initializer_range: 0.3,
};

if (name === undefined) {
  for (const [seed, folder] of folders.entries())
    await onnx.initialize(folder, { tokenizer, architecture }, seed);
} else {
  const [first = ""] = folders;
  const policy = await openServerPolicy(first, { protocol: name === "sglang" ? sglang : vllm, urls });
  const own = await onnx.open(first, {});
  const { tokens } = own.framePrompt([{ role: "user", content: "1 + 2 =" }], []);
  const request = (version: number, trajectory: string, temperature: number) => ({
    tokens,
    version,
    sampling: { temperature, maxTokens: 24 },
    key: { seed: 1, trajectory, turn: 1 },
  });
  for (const [version, folder] of folders.entries()) {
    const started = performance.now();
    await policy.load(version, folder);
    const seconds = ((performance.now() - started) / 1000).toFixed(2);
    await own.load(version, folder);
    const written = await policy.generate(request(version, "t", 0));
    const expected = await own.generate(request(version, "t", 0));
    assert.deepEqual(written.tokens, expected.tokens);
    const gap = Math.max(...written.logprobs.map((one, at) => Math.abs(one - expected.logprobs[at]!)));
    assert.ok(gap < 1e-3);
    console.log(
      `version ${version}: loaded in ${seconds} s, ${written.tokens.length} tokens equal, gap ${gap}`,
    );
  }
  const mixed = Array.from({ length: 16 }, (_, at) => request(at % 2, `t${at}`, 1));
  const actions = await Promise.all(mixed.map((one) => policy.generate(one)));
  console.log(`two versions at once: ${actions.length} actions`);
  await policy.close();
  await own.close();
}
