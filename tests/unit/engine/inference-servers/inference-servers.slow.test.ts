import { join } from "node:path";
import { pluginChecks } from "everturn/testing";
import { expect, onTestFinished, test } from "vitest";
import onnx from "../../../../plugins/policy-onnx/index.ts";
import { inferenceServer } from "../../../support/inference-server.ts";
import { tokenizerFolder } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

test("policy-vllm keeps a policy's promises", async () => {
  const architecture = {
    hidden_size: 16,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    intermediate_size: 24,
    max_position_embeddings: 128,
    initializer_range: 0.3,
  };
  const model = join(temporaryFolder(), "model");
  await onnx.initialize(model, { tokenizer: tokenizerFolder, architecture }, 0);
  const server = await inferenceServer(model);
  onTestFinished(() => server.stop());
  const config = { tokenizer: tokenizerFolder, architecture, urls: [server.url] };
  const checks = await pluginChecks("policy-vllm", { config });
  expect(checks).toHaveLength(6);
  for (const check of checks) await check.run();
});
