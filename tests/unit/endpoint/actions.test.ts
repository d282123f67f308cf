import { expect, test } from "vitest";
import { answerOfAction } from "../../../src/endpoint/answer-of-action.ts";
import { chatMessages } from "../../../src/endpoint/chat-messages.ts";
import { parseAction } from "../../../src/formats/parse-action.ts";

test("an action's calls are made under the endpoint's ids; one that can't be read is said as it was written", () => {
  const text =
    '<think>hm</think>So:<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call><tool_call>{"name"</tool_call>';
  const answer = answerOfAction(parseAction(text), (index) => `id${index}`);
  expect(answer).toEqual({
    text: expect.stringMatching(/^So:\n.*\{"name"/),
    reasoning: "hm",
    calls: [{ id: "id0", name: "f", arguments: '{"a":1}' }],
  });
});

test("messages are as templates read them: calls parsed, with ids, and tools' answers with the names of their calls", () => {
  const calls = [
    { id: "c1", name: "f", arguments: '{"a": 1.0}' },
    { id: "c2", name: "g", arguments: "{broken" },
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
