import { expect, test } from "vitest";
import { formatNamed } from "../../../../src/chat/formats/parse-action.ts";
import { answerOfAction } from "../../../../src/chat/openai/answer-of-action.ts";
import { chatMessages } from "../../../../src/chat/openai/chat-messages.ts";
import type { FormatName } from "../../../../src/contracts/format-name.ts";

const tool = { name: "f", description: "", parameters: { type: "object", properties: { a: {} } } };

const answered = (text: string, format: FormatName = "hermes", takesCalls = true) =>
  answerOfAction(formatNamed(format).parse(text, { tools: [tool] }), {
    written: text,
    format: formatNamed(format),
    tools: [tool],
    takesCalls,
    callId: (index) => `id${index}`,
  });
const made = { id: "id0", name: "f", arguments: '{"a":1}' };

test("an action's calls are made under the endpoint's ids; one that can't be read stays where it was written", () => {
  const call = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>';
  const broken = '<tool_call>\n  {"name" </tool_call>';
  expect(answered(`<think>hm</think>So:${call}then ${broken} and more`)).toEqual({
    text: `So:then ${broken} and more`,
    reasoning: "hm",
    calls: [made],
  });
  expect(answered(`${call}<tool_call>{"name": "g", `)).toEqual({
    text: '<tool_call>{"name": "g", ',
    reasoning: undefined,
    calls: [made],
  });
});

/** How formats write a call of `f`, and one that can't be read. */
const written: [format: FormatName, call: string, broken: string][] = [
  [
    "hermes",
    '<tool_call>\n{"name": "f", "arguments": {"a": "</think>"}}\n</tool_call>',
    "<tool_call> {oops} </tool_call>\n",
  ],
  ["mistral", '[TOOL_CALLS]f[ARGS]{"a": 1}', "[TOOL_CALLS]f[ARGS]{a: 1}  "],
  ["mistral-json", '[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}]', "[TOOL_CALLS] [{oops}]"],
  [
    "deepseek-v3.1",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{a<｜tool▁call▁end｜>\n",
  ],
  [
    "kimi-k2",
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|><|tool_calls_section_end|>',
    "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{a<|tool_call_end|>",
  ],
  [
    "qwen3-coder",
    "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
    "<tool_call>\nf(1)\n</tool_call>",
  ],
  [
    "glm-4.5",
    "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
    "<tool_call>f\n<arg_key>a\n</tool_call>",
  ],
  [
    "command-a",
    '<|START_ACTION|>[{"tool_name": "f", "parameters": {"a": 1}}]<|END_ACTION|>',
    "<|START_ACTION|>\n[{oops]\n<|END_ACTION|>",
  ],
  ["llama3-json", '{"name": "f", "parameters": {"a": 1}}', '{"name": "f", "parameters": {a}}'],
  ["pythonic", "[f(a=1)]", "[f(a=1b)]"],
  ["react", 'Action: f\nAction Input: {"a": 1}', "Action: f\nAction Input: {a"],
  [
    "harmony",
    '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>',
    "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{a<|call|>",
  ],
  ["xml-tags", '<tool>{"name": "f", "arguments": {"a": 1}}</tool>', "<tool> {oops}</tool>"],
  ["fenced", '```tool_call\n{"name": "f", "arguments": {"a": 1}}\n```', "```tool_call\n{oops}\n```\n"],
  ["gemma-4", "<|tool_call>call:f{a:1}<tool_call|>", "<|tool_call>call:f{a<tool_call|>"],
];

test.for(written)(
  "%s: what a client takes no call of is text, character for character",
  ([format, call, broken]) => {
    expect(answered(call, format).calls, "it is a call").toHaveLength(1);
    for (const text of [call, broken, `${call}\n`, `${call}\n\n${broken}`])
      expect(answered(text, format, false)).toEqual({ text, reasoning: undefined, calls: [] });
    expect(answered(`Look: ${call}`, format, false)).toMatchObject({ text: `Look: ${call}`, calls: [] });
    expect(answered(broken, format)).toEqual({ text: broken, reasoning: undefined, calls: [] });
  },
);

test("a call that is text keeps apart from the thought before it", () => {
  const call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>';
  expect(answered(`<think>A ${call}?</think>\n\nNo: ${call}`, "hermes", false)).toEqual({
    text: `No: ${call}`,
    reasoning: `A ${call}?`,
    calls: [],
  });
  const harmony =
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.f<|message|>{}<|call|>";
  expect(answered(harmony, "harmony", false)).toEqual({
    text: "assistant<|channel|>commentary to=functions.f<|message|>{}<|call|>",
    reasoning: "Hm.",
    calls: [],
  });
});

test("messages are as templates read them: calls parsed, with ids, and tools' answers with the names of their calls", () => {
  const calls = [
    { id: "c1", name: "f", arguments: '{"a": 1.0}' },
    { id: "c2", name: "g", arguments: "{}" },
  ];
  const messages = chatMessages(
    [
      { role: "system", content: "S", isInstructions: true },
      { role: "assistant", content: "", calls, reasoning: "hm", itemIds: ["fc_1_0"] },
      { role: "tool", content: "2", callId: "c2" },
      { role: "tool", content: "0", callId: "c0" },
      { role: "tool", content: "?", callId: "c3", name: "own" },
    ],
    [{ id: "c0", name: "e", arguments: "{}" }],
  );
  expect(messages).toEqual([
    { role: "system", content: "S" },
    {
      role: "assistant",
      content: "",
      reasoning_content: "hm",
      tool_calls: [
        { type: "function", id: "c1", function: { name: "f", arguments: { a: 1 } } },
        { type: "function", id: "c2", function: { name: "g", arguments: {} } },
      ],
    },
    { role: "tool", content: "2", name: "g", tool_call_id: "c2" },
    { role: "tool", content: "0", name: "e", tool_call_id: "c0" },
    { role: "tool", content: "?", name: "own", tool_call_id: "c3" },
  ]);
});
