import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { detectFormat } from "../../../../src/chat/formats/detect-format.ts";
import type { Message } from "../../../../src/contracts/message.ts";
import type { GgufHeader } from "../../../../src/engine/models/weights/gguf/header.ts";
import { compileChatTemplate } from "../../../../src/engine/tokens/chat-template.ts";
import { createFraming } from "../../../../src/engine/tokens/framing.ts";
import { fetchLlamaCpp } from "../../../support/llama-cpp.ts";
import { publishedTemplate, publishedTokenizer } from "../../../support/published-tokenizer.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const work = temporaryFolder();
beforeAll(fetchLlamaCpp, 600_000); // the first time it is downloaded

const chat: Message[] = [
  { role: "user", content: "What is 2 + 2?" },
  { role: "assistant", content: "4, I think." },
  { role: "user", content: "  And 3 + 3?" },
  { role: "assistant", content: "6" },
];

// Zephyr's and Llama 2's ways, with SentencePiece's vocabulary
test.each([
  "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}{{ eos_token }}\n{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}",
  "{% for m in messages %}{% if m.role == 'user' %}{{ bos_token }}[INST] {{ m.content }} [/INST]{% else %} {{ m.content }} {{ eos_token }}{% endif %}{% endfor %}",
])("a demonstration of SentencePiece's tokens is that of the whole chat: %s", async (template) => {
  const folder = join(work, `spm-${template.length}`);
  const tokenizer = await publishedTokenizer("llama-spm", folder, (metadata) => {
    metadata.set("tokenizer.chat_template", template);
  });
  const { tokens, mask } = createFraming(tokenizer).frameDemonstration(chat, []);
  const whole = tokenizer.encode(compileChatTemplate(template, tokenizer.specialTokens)(chat, [], false));
  expect(tokens).toEqual(whole.slice(0, whole.lastIndexOf(tokenizer.endOfTurn.id) + 1));
  const written = tokenizer.decode(tokens.filter((_, at) => mask[at] === 1));
  expect(written.replaceAll(/\s/g, "")).toBe("4,Ithink.</s>6</s>");
});

type Change = (metadata: GgufHeader["metadata"]) => void;

/** Phi-3's vocabulary with Gemma's names for two of its control tokens. */
const asGemma: Change = (metadata) => {
  const tokens = metadata.get("tokenizer.ggml.tokens");
  if (!Array.isArray(tokens)) throw new TypeError("there are no tokens");
  tokens[32_002] = "<start_of_turn>";
  tokens[32_003] = "<end_of_turn>";
};

test.each<[string, string, string, string, Change?]>([
  ["google-gemma-2-2b-it", "phi-3", "<|endoftext|>", "<end_of_turn>", asGemma],
  ["microsoft-Phi-3.5-mini-instruct", "phi-3", "<|endoftext|>", "<|end|>"],
  ["meta-llama-Llama-3.1-8B-Instruct", "llama-bpe", "<|end_of_text|>", "<|eot_id|>"],
  ["meta-llama-Llama-3.2-3B-Instruct", "llama-bpe", "<|end_of_text|>", "<|eot_id|>"],
  ["Qwen-Qwen2.5-7B-Instruct", "qwen2", "<|endoftext|>", "<|im_end|>"],
  ["Qwen-Qwen3-0.6B", "qwen2", "<|endoftext|>", "<|im_end|>"],
  ["mistralai-Mistral-Nemo-Instruct-2407", "llama-spm", "</s>", "</s>"],
])("%s: its end of turn ends an action, and what follows is token for token the chat", async (...row) => {
  const [name, vocabulary, eos, end, change] = row;
  const template = await publishedTemplate(name);
  const tokenizer = await publishedTokenizer(vocabulary, join(work, name), (metadata) => {
    metadata.set("tokenizer.chat_template", template);
    change?.(metadata);
  });
  expect(tokenizer.endOfTurn.text).toBe(end);
  expect(tokenizer.stopTokens.map((id) => tokenizer.decode([id]))).toEqual([...new Set([end, eos])]);
  const { framePrompt, frameObservation, frameDemonstration } = createFraming(tokenizer);
  const [question, answer, next] = chat;
  const prompt = framePrompt([question!], []);
  const observation = frameObservation([next!]);
  const whole = framePrompt([question!, answer!, next!], []);
  expect(`${prompt.text}${answer!.content}${end}${observation.text}`).toBe(whole.text);
  const action = whole.tokens.slice(prompt.tokens.length, -observation.tokens.length);
  expect([...prompt.tokens, ...action, ...observation.tokens]).toEqual(whole.tokens);
  expect(action.at(-1)).toBe(tokenizer.endOfTurn.id);
  const { tokens, mask } = frameDemonstration([question!, answer!], []);
  // Qwen3's template writes an empty thought before the newest action
  expect(tokens.filter((_, at) => mask[at] === 1).slice(-action.length)).toEqual(action);
});

/** Published templates by the format that they write calls in. */
const written: [string, string[]][] = [
  [
    "hermes",
    [
      "Bielik-11B-v3.0-Instruct",
      "MiMo-VL",
      "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
      "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
      "Qwen-QwQ-32B",
      "Qwen-Qwen2.5-7B-Instruct",
      "Qwen-Qwen3-0.6B",
      "Reka-Edge",
      "ibm-granite-granite-4.0",
      "ibm-granite-granite-4.1",
    ],
  ],
  ["command-a", ["Cohere2MoE", "CohereForAI-c4ai-command-r7b-12-2024-tool_use"]],
  [
    "glm-4.5",
    [
      "GLM-4.6",
      "GLM-4.7-Flash",
      "Spark2.5",
      "inclusionai-ling-3.0-flash",
      "poolside-Laguna-S-2.1",
      "poolside-Laguna-XS-2.1",
      "poolside-Laguna-XS.2",
    ],
  ],
  [
    "llama3-json",
    [
      "GigaChat3-10B-A1.8B",
      "meta-llama-Llama-3.1-8B-Instruct",
      "meta-llama-Llama-3.2-3B-Instruct",
      "meta-llama-Llama-3.3-70B-Instruct",
    ],
  ],
  ["lfm2", ["LFM2.5-8B-A1B"]],
  ["minimax-m1", ["MiniMax-M1"]],
  ["minimax-m2", ["MiniMax-M2"]],
  [
    "mistral",
    [
      "Mistral-Small-3.2-24B-Instruct-2506",
      "mistralai-Ministral-3-14B-Reasoning-2512",
      "unsloth-mistral-Devstral-Small-2507",
    ],
  ],
  ["qwen3-coder", ["NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "Qwen3-Coder", "Qwen3.5-4B", "StepFun3.5-Flash"]],
  ["command-r", ["CohereForAI-c4ai-command-r-plus-tool_use"]],
  ["nemotron", ["NVIDIA-Nemotron-Nano-v2"]],
  ["deepseek-v3", ["deepseek-ai-DeepSeek-R1-Distill-Qwen-32B"]],
  ["deepseek-v3.1", ["deepseek-ai-DeepSeek-V3.1"]],
  [
    "deepseek-v3.2",
    ["deepseek-ai-DeepSeek-V3.2", "deepseek-ai-DeepSeek-V4-Flash-0731", "deepseek-ai-DeepSeek-V4"],
  ],
  ["gemma-4", ["google-gemma-4-31B-it-interleaved", "google-gemma-4-31B-it"]],
  ["mistral-json", ["mistralai-Mistral-Nemo-Instruct-2407"]],
  ["kimi-k2", ["moonshotai-Kimi-K2"]],
  ["harmony", ["openai-gpt-oss-120b"]],
];

/** Those that write none, that no format reads, or that the renderer of templates does not take. */
const unknown = [
  "HuggingFaceTB-SmolLM3-3B",
  "microsoft-Phi-3.5-mini-instruct",
  "Kimi-K3",
  "Apertus-8B-Instruct",
  "MiniMax-M3",
  "llama-cpp-deepseek-r1",
];

test("a template's action format is found by the calls that it writes", async () => {
  const found = async (name: string) => {
    const render = compileChatTemplate(await publishedTemplate(name), {
      bos_token: "<s>",
      eos_token: "</s>",
    });
    return [name, detectFormat(render)?.name];
  };
  for (const [format, names] of written)
    expect(await Promise.all(names.map(found))).toEqual(names.map((name) => [name, format]));
  for (const name of unknown) expect(await found(name)).toEqual([name, undefined]);
});
