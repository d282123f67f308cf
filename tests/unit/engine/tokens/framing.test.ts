import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { Message, ToolDefinition } from "../../../../src/contracts/message.ts";
import { compileChatTemplate } from "../../../../src/engine/tokens/chat-template.ts";
import { createFraming } from "../../../../src/engine/tokens/framing.ts";
import { loadTokenizer } from "../../../../src/engine/tokens/tokenizer.ts";

type Chat = { messages: Message[]; tools: ToolDefinition[]; generate: boolean; text: string };

const { chats }: { chats: Chat[] } = JSON.parse(
  await readFile(join(import.meta.dirname, "fixtures/cases.json"), "utf8"),
);
const tokenizer = await loadTokenizer(join(import.meta.dirname, "fixtures/tokenizer"));
const framing = createFraming(tokenizer);
const { tools } = chats[0]!;
const question: Message = { role: "user", content: "1 + 2?" };
const call: Message = {
  role: "assistant",
  content: "",
  tool_calls: [{ type: "function", function: { name: "calculator", arguments: { expression: "1 + 2" } } }],
};
const result: Message = { role: "tool", content: "3" };
const answer: Message = { role: "assistant", content: "3" };

test("renders chats as transformers does", () => {
  const render = compileChatTemplate(tokenizer.chatTemplate);
  for (const chat of chats) expect(render(chat.messages, chat.tools, chat.generate)).toBe(chat.text);
});

test("an observation is what stands between the end of an action and the next one", () => {
  expect(framing.frameObservation([result]).text).toBe(
    "\n<|im_start|>user\n<tool_response>\n3\n</tool_response><|im_end|>\n<|im_start|>assistant\n",
  );
  expect(framing.frameObservation([result, { role: "tool", content: "4" }]).text).toBe(
    "\n<|im_start|>user\n<tool_response>\n3\n</tool_response>\n<tool_response>\n4\n</tool_response><|im_end|>\n" +
      "<|im_start|>assistant\n",
  );
});

test("prompt, action and observation put together are the rendered chat", () => {
  const prompt = framing.framePrompt([question], tools);
  const observation = framing.frameObservation([result]);
  const action =
    '<tool_call>\n{"name": "calculator", "arguments": {"expression": "1 + 2"}}\n</tool_call><|im_end|>';
  const whole = framing.framePrompt([question, call, result], tools);
  expect(prompt.text + action + observation.text).toBe(whole.text);
  expect([...prompt.tokens, ...tokenizer.encode(action), ...observation.tokens]).toEqual(whole.tokens);
});

test("a demonstration begins with its prompt and marks the actions", () => {
  const { tokens, mask } = framing.frameDemonstration([question, call, result, answer], tools);
  const prompt = framing.framePrompt([question], tools);
  expect(tokens.slice(0, prompt.tokens.length)).toEqual(prompt.tokens);
  expect(mask.slice(0, prompt.tokens.length)).toEqual(prompt.tokens.map(() => 0));
  const written = tokens.filter((_, index) => mask[index] === 1);
  expect(tokenizer.decode(written)).toBe(
    '<tool_call>\n{"name": "calculator", "arguments": {"expression": "1 + 2"}}\n</tool_call><|im_end|>3<|im_end|>',
  );
  expect(tokens.at(-1)).toBe(tokenizer.endOfTurn.id);
  const whole = compileChatTemplate(tokenizer.chatTemplate)([question, call, result, answer], tools, false);
  expect(`${tokenizer.decode(tokens)}\n`).toBe(whole);
});

test("a demonstration may be longer than what a call takes as arguments", () => {
  const long: Message = { role: "assistant", content: "3 ".repeat(70_000) };
  const { tokens, mask } = framing.frameDemonstration([question, long], []);
  expect(tokens.length).toBeGreaterThan(130_000);
  expect(mask.length).toBe(tokens.length);
  expect(tokens.at(-1)).toBe(tokenizer.endOfTurn.id);
});

test("refuses a demonstration without an action", () => {
  expect(() => framing.frameDemonstration([question], tools)).toThrow("contains no assistant message");
});

test("refuses templates that can't frame turns", () => {
  const endless = createFraming({ ...tokenizer, chatTemplate: "{{ messages[-1].content }}" });
  expect(() => endless.frameObservation([result])).toThrow("doesn't end with a token that ends a turn");
  const rewriting = createFraming({ ...tokenizer, chatTemplate: "{{ messages | length }}<|im_end|>" });
  expect(() => rewriting.frameDemonstration([question, answer], [])).toThrow("writes earlier messages");
  const broken = { ...tokenizer, chatTemplate: "{% if %}" };
  expect(() => createFraming(broken)).toThrow("The chat template can't be rendered");
});

test("an answer may say what marks an action while the template is looked at", () => {
  const said = "EVERTURN_ACTION, EVERTURN_MESSAGE_0";
  expect(framing.frameObservation([{ role: "tool", content: said }]).text).toContain(`\n${said}\n`);
});

test.each(["a", '"', "", "user", "\u0001"])(
  "a template that leaves out tools' messages is given %j as a user's",
  (content) => {
    const chatTemplate =
      "{% for m in messages %}{% if m.role in ['user', 'assistant'] %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}" +
      "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
    const { frameObservation } = createFraming({ ...tokenizer, chatTemplate });
    expect(frameObservation([{ role: "tool", content }]).text).toBe(
      `\n<|im_start|>user\n${content}<|im_end|>\n<|im_start|>assistant\n`,
    );
  },
);

test("a template is told the same date on every day, so that a run that goes on later keeps its prompts", () => {
  const chatTemplate = `{{ strftime_now("%Y-%m-%d, %d %B %Y (%A), %H:%M:%S %%") }}${tokenizer.chatTemplate}`;
  const prompts = ["2026-02-03T04:05:06Z", "2031-07-08T09:10:11Z"].map((now) => {
    vi.useFakeTimers({ now: new Date(now), toFake: ["Date"] });
    try {
      return createFraming({ ...tokenizer, chatTemplate }).framePrompt([question], tools);
    } finally {
      vi.useRealTimers();
    }
  });
  expect(prompts[0]).toEqual(prompts[1]);
  expect(prompts[0]?.text).toMatch(/^2026-01-01, 01 January 2026 \(Thursday\), 12:00:00 %/);
});

test("a directive that strftime_now doesn't know is refused", () => {
  const chatTemplate = `{{ strftime_now("%Y %q") }}${tokenizer.chatTemplate}`;
  expect(() => createFraming({ ...tokenizer, chatTemplate }).framePrompt([question], tools)).toThrow(
    'strftime_now is asked for "%q", which is not supported',
  );
});
