import { beforeAll, expect, test } from "vitest";
import { byteTokenizer } from "../../../../src/engine/tokens/byte-tokenizer.ts";
import { fixedTemplate, type TemplateSettings } from "../../../../src/engine/tokens/fixed-template.ts";
import { createFraming } from "../../../../src/engine/tokens/framing.ts";
import { guessedControl } from "../../../../src/engine/tokens/guessed-control.ts";
import { templateReport } from "../../../../src/engine/tokens/template-report.ts";
import { templateVariables } from "../../../../src/engine/tokens/template-variables.ts";
import { fetchLlamaCpp } from "../../../support/llama-cpp.ts";
import { publishedTemplate } from "../../../support/published-tokenizer.ts";

beforeAll(fetchLlamaCpp, 600_000); // the first time it is downloaded

const qwen3 = "Qwen-Qwen3-0.6B";
const gptOss = "openai-gpt-oss-120b";
const llama31 = "meta-llama-Llama-3.1-8B-Instruct";

async function opened(name: string, settings: TemplateSettings) {
  const template = fixedTemplate(await publishedTemplate(name), settings);
  return byteTokenizer(["<BOS>", ...guessedControl(template), "<EOS>"], template);
}

test("the variables that a template reads are found, and not those that it sets itself", async () => {
  const found = async (name: string) => templateVariables(await publishedTemplate(name));
  expect(await found(qwen3)).toEqual(["enable_thinking"]);
  expect(await found(gptOss)).toEqual(["builtin_tools", "model_identity", "reasoning_effort"]);
  expect(await found(llama31)).toContain("date_string");
  expect(await found("Qwen-Qwen2.5-7B-Instruct")).toEqual([]);
  expect(await found("fireworks-ai-llama-3-firefunction-v2")).toEqual(["datetime", "functions"]);
  expect(
    templateVariables("{% set a = b %}{{ a }}{% for c in d.e %}{{ c.f(g=h) | tojson }}{% endfor %}"),
  ).toEqual(["b", "d", "h"]);
  expect(() => templateVariables("{% if %}")).toThrow("The chat template can't be rendered");
});

test.each<[string, TemplateSettings, string]>([
  [qwen3, { variables: { enable_thinking: false } }, "<think>\n\n</think>\n\n"],
  [gptOss, { variables: { reasoning_effort: "high" } }, "Reasoning: high\n"],
  [gptOss, { variables: { model_identity: 'You are "X"\n' } }, 'You are "X"\n\n'],
  [gptOss, { date: "2026-11-24" }, "Current date: 2026-11-24\n"],
  [llama31, { variables: { date_string: "24 Nov 2026" } }, "Today Date: 24 Nov 2026\n"],
  ["meta-llama-Llama-3.2-3B-Instruct", { date: "2026-11-24" }, "Today Date: 24 Nov 2026\n"],
])("%s is told %j wherever it is rendered", async (name, settings, expected) => {
  const [plain, told] = [await opened(name, {}), await opened(name, settings)];
  const prompt = ({ framePrompt } = createFraming(told)) =>
    framePrompt([{ role: "user", content: "?" }], []).text;
  expect(prompt()).toContain(expected);
  expect(prompt(createFraming(plain))).not.toContain(expected);
  expect(fixedTemplate(told.chatTemplate, settings)).toBe(told.chatTemplate);
  const { usable, conversations } = templateReport(told);
  expect(usable).toBe(true);
  expect(conversations.flatMap(({ differences }) => differences)).toEqual([]);
});

test("what a template doesn't read is refused, with the name that was meant", async () => {
  const template = await publishedTemplate(qwen3);
  const told = (settings: TemplateSettings) => () => fixedTemplate(template, settings);
  expect(told({ variables: { enable_thinkin: false } })).toThrow(
    "does not use a variable “enable_thinkin”. Did you mean “enable_thinking”?",
  );
  expect(told({ variables: { messages: [] } })).toThrow("does not use a variable “messages”");
  expect(told({ date: "2026-11-24" })).toThrow("The date 2026-11-24 can't be set in the chat template");
  expect(() => fixedTemplate('{{ strftime_now("%Y") }}', { date: "2026-99-99" })).toThrow(
    "or the date is invalid",
  );
  expect(told({})()).toBe(template);
});

test("values of every kind are written as Jinja reads them, and the template's first line break stays", () => {
  const variables = { one: [1, null, true, "a'\"\\b\n{{ x }}"], other: { key: [{}] } };
  const template = "\n{{ one | tojson }} {{ other | tojson }}{% if bos_token %}{% endif %}";
  const { framePrompt } = createFraming(byteTokenizer(["<EOS>"], fixedTemplate(template, { variables })));
  expect(framePrompt([], []).text).toBe('\n[1, null, true, "a\'\\"\\\\b\\n{{ x }}"] {"key": [{}]}');
});
