import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import plugin from "../../../plugins/policy-onnx/index.ts";
import { loadPlan } from "../../../src/plan/pipeline/load-plan.ts";
import { tokenizerFolder } from "../../support/sample-plan.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
const architecture = {
  hidden_size: 16,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  intermediate_size: 24,
  max_position_embeddings: 64,
};
const pipelines = join(import.meta.dirname, "../../../pipelines");
const chatTemplate = join(pipelines, "smollm2-math/chat-template.jinja");
const tool = { name: "calculator", description: "", parameters: { type: "object" } };

test("a model of a folder becomes version 0, with the pipeline's chat template", async () => {
  const [source, copy] = [join(folder, "source"), join(folder, "copy")];
  await plugin.initialize(source, { tokenizer: tokenizerFolder, architecture }, 1);
  await plugin.initialize(copy, { model: source, chatTemplate }, 2);
  const policy = await plugin.open(copy, { slots: 1, threads: 1 });
  await policy.load(0, copy);
  const { text, tokens } = policy.framePrompt([{ role: "user", content: "1 + 2 =" }], [tool]);
  expect(text.split("<|im_start|>")).toEqual([
    "",
    "system\nUse the calculator tool.<|im_end|>\n",
    "user\nState the final answer to the following arithmetic problem: 25 + 31 - 18 =<|im_end|>\n",
    'assistant\n<tool_call>{"name": "calculator", "arguments": {"expression": "25 + 31 - 18"}}</tool_call><|im_end|>\n',
    "tool\n38<|im_end|>\n",
    "assistant\nAnswer: 38<|im_end|>\n",
    "user\n1 + 2 =<|im_end|>\n",
    "assistant\n",
  ]);
  expect(policy.framePrompt([{ role: "user", content: "1 + 2 =" }], []).text).toBe(
    "<|im_start|>user\n1 + 2 =<|im_end|>\n<|im_start|>assistant\n",
  );
  expect(policy.frameObservation([{ role: "tool", content: "3" }]).text).toBe(
    "\n<|im_start|>tool\n3<|im_end|>\n<|im_start|>assistant\n",
  );
  const sampling = { temperature: 0, maxTokens: 2 };
  const key = { seed: 1, trajectory: "", turn: 1 };
  const { logprobs } = await policy.generate({ tokens: tokens.slice(-8), version: 0, sampling, key });
  expect(logprobs.length).toBeGreaterThan(0);
  await policy.close();
});

test("what the template is told is in version 0, and before it in how prompts are counted", async () => {
  const template = join(folder, "told.jinja");
  const own = '{{ strftime_now("%d %B") }}, {{ "short" if effort == 1 else "long" }}: ';
  await writeFile(template, own + (await readFile(chatTemplate, "utf8")));
  const settings = { templateVariables: { effort: 1 }, templateDate: "2026-11-24" };
  const config = { tokenizer: tokenizerFolder, architecture, chatTemplate: template, ...settings };
  const version = join(folder, "told");
  await plugin.initialize(version, config, 1);
  const counted = await plugin.framing?.(config);
  const opened = await Promise.all([
    plugin.open(version, { ...config, slots: 1, threads: 1 }),
    plugin.open(version, { slots: 1, threads: 1 }),
  ]);
  const prompts = [counted, ...opened].map((one) => one?.framePrompt([{ role: "user", content: "?" }], []));
  expect(prompts[0]?.text).toMatch(/^24 November, short:/);
  expect(prompts[1]).toEqual(prompts[0]);
  expect(prompts[2]).toEqual(prompts[0]);
  for (const policy of opened) await policy.close();
});

test("the example of smollm2-math's template is in neither of its task files", async () => {
  for (const split of ["train", "val"]) {
    const tasks = await readFile(join(pipelines, `calculator/chain-sum-small.${split}.jsonl`), "utf8");
    expect(tasks).not.toContain("25 + 31 - 18");
  }
});

test.each([
  ["policy.config={}", "policy.config.tokenizer is missing, and there is no model."],
  [`policy.config={tokenizer: ${tokenizerFolder}}`, "policy.config.architecture is missing"],
  [
    `policy.config={model: smollm2-135m-instruct, tokenizer: ${tokenizerFolder}}`,
    "policy.config.tokenizer is there, but model brings its own. Remove one of the two.",
  ],
  [
    "policy.config={model: smollm2}",
    "is smollm2, which is not the name of a known model. Write ./smollm2 for a file",
  ],
  ["policy.config={model: ./smollm2}", "policy.config.model"],
  [
    "policy.config.architecture.hidden_size=65",
    "policy.config.architecture makes no model. A model's configuration can't be used: the head size",
  ],
  ["policy.config.templateVariables.enable_thinking=false", "does not use a variable “enable_thinking”"],
  ["policy.config.templateVariables={not a name: 1}", "policy.config.templateVariables"],
  ["policy.config.templateDate=2026-11-24", "The date 2026-11-24 can't be set"],
  ["policy.config.templateDate=today", "policy.config.templateDate"],
  ["policy.config.architecture.num_key_value_heads=3", "num_key_value_heads (3) doesn't divide 4 heads"],
])("refuses %s", async (override, message) => {
  const pipeline = join(pipelines, "calculator.yaml");
  await expect(loadPlan(pipeline, { overrides: [override] })).rejects.toThrow(message);
});
