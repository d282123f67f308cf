import { expect, test } from "vitest";
import { parseToolCalls } from "../../../plugins/loop-tool-agent/parse-tool-calls.ts";

const call = (text: string) => `<tool_call>${text}</tool_call>`;
const problemOf = (text: string) => parseToolCalls(text)[0]?.problem;

test("finds every call of an action, in order, whatever stands around them", () => {
  const action = `Let me see. ${call('\n{"name": "add", "arguments": {"a": 1}}\n')} and ${call('{"name": "now"}')}!`;
  expect(parseToolCalls(action)).toEqual([
    { name: "add", arguments: { a: 1 } },
    { name: "now", arguments: {} },
  ]);
  expect(parseToolCalls("Answer: 3")).toEqual([]);
});

test("a call that can't be read tells the model how to write it, and keeps what it wrote", () => {
  expect(parseToolCalls(call("calculator(1 + 2)"))).toEqual([
    {
      text: "calculator(1 + 2)",
      problem:
        'error: the tool call is not JSON. Write <tool_call>{"name": "…", "arguments": {…}}</tool_call>',
    },
  ]);
  expect(problemOf('<tool_call>{"name": "add"}')).toContain("the tool call is not closed");
  expect(problemOf(call('{"arguments": {}}'))).toContain("the tool call names no tool");
  expect(problemOf(call('["add"]'))).toContain("the tool call names no tool");
  expect(problemOf(call('{"name": "add", "arguments": [1]}'))).toContain('"arguments" is not an object');
  expect(problemOf(call('{"name": "add", "arguments": "1"}'))).toContain('"arguments" is not an object');
});

test("one bad call among good ones spoils only itself", () => {
  const calls = parseToolCalls(`${call("?")}${call('{"name": "add", "arguments": {"a": 1}}')}`);
  expect(calls[0]?.problem).toBeDefined();
  expect(calls[1]).toEqual({ name: "add", arguments: { a: 1 } });
});
