import { expect, test } from "vitest";
import { parseAction } from "../../../src/formats/parse-action.ts";

const call = (text: string) => `<tool_call>${text}</tool_call>`;
const problemOf = (text: string) => parseAction(text).calls[0]?.problem;

test("a call that can't be read tells the model how to write it, and keeps what it wrote", () => {
  expect(parseAction(call("calculator(1 + 2)")).calls).toEqual([
    {
      id: "call00000",
      text: "calculator(1 + 2)",
      problem:
        'error: the tool call is not JSON. Write <tool_call>{"name": "…", "arguments": {…}}</tool_call>',
    },
  ]);
  expect(problemOf('<tool_call>{"name": "add"}')).toContain("the tool call is not closed");
  expect(problemOf(call('{"arguments": {}}'))).toContain("the tool call names no tool");
  expect(problemOf(call('["add"]'))).toContain("the tool call names no tool");
  expect(problemOf(call('{"name": "add", "arguments": [1]}'))).toContain('"arguments" is not an object');
  expect(
    problemOf(call(`{"name": "add", "arguments": ${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`)),
  ).toContain("not JSON");
});

test("ids are numbered through a trajectory, and a model's own are kept", () => {
  const ids = (text: string, callsBefore: number) =>
    parseAction(text, { callsBefore }).calls.map(({ id }) => id);
  const [one, named] = [call('{"name": "a"}'), call('{"name": "a", "id": "abcdefgh1"}')];
  expect(ids(one + named + named, 12)).toEqual(["call00012", "abcdefgh1", "call00014"]);
});
