import { expect, test } from "vitest";
import code from "../../../plugins/tool-code/everturn.plugin.json" with { type: "json" };
import { parseAction } from "../../../src/serving/actions.ts";

const text = { type: "object", required: ["query"], properties: { query: { type: "string" } } };
const functions = [
  code.tool,
  { name: "search", description: "", parameters: text },
  { name: "clock", description: "", parameters: { type: "object", properties: {} } },
];
const parsed = (action: string) => parseAction(action, functions)?.calls;
const program = (text: string, language: string) => [
  { function: "code", arguments: { code: text, language } },
];

test("an action's calls are found in the forms in which verl-tool's models write them", () => {
  expect(parsed("So <python>print(1)</python> … <python>\nprint(2)\n</python>")).toEqual(
    program("print(1)\nprint(2)", "python"),
  );
  expect(parsed("```python\nprint(1)\n```")).toEqual(program("print(1)", "python"));
  expect(parsed("```py\nprint(1)\n``` or\n```js\n2\n```")).toEqual(program("print(1)", "python"));
  expect(parsed("<search> who? </search>")).toEqual([{ function: "search", arguments: { query: "who?" } }]);
  expect(parsed('{"name": "clock"}')).toEqual([{ function: "clock", arguments: {} }]);
  expect(
    parsed(
      '<tool_call>{"name": "clock"}</tool_call><tool_call>{"name": "a", "arguments": {"b": 1}}</tool_call>',
    ),
  ).toEqual([
    { function: "clock", arguments: {} },
    { function: "a", arguments: { b: 1 } },
  ]);
});

test("an observation is written as its action was", () => {
  const written = (action: string) => parseAction(action, functions)?.written("42");
  expect(written("<python>6*7</python>")).toBe("\n<result>\n42\n</result>\n");
  expect(written("```python\n6*7\n```")).toBe("\n```result\n42\n```\n");
  expect(written("<search>6*7</search>")).toBe("\n\n<information>42</information>\n\n");
  expect(written('<tool_call>{"name": "clock"}</tool_call>')).toBe(
    "\n<tool_response>\n42\n</tool_response>\n",
  );
});

test("what is no call is none, and what is a broken one is said, in a time that grows with its length alone", () => {
  for (const none of ["", "42", "<python>1", "```python 1", "<clock></clock>", '{"a": 1}', "{", "``````"])
    expect(parsed(none)).toBeUndefined();
  const problems = ["{", "[]", "null", '{"name": 3}', '{"name": "a", "arguments": []}'];
  for (const broken of problems)
    expect(parsed(`<tool_call>${broken}</tool_call>`)).toEqual([
      { problem: expect.stringContaining("Write") },
    ]);
  for (const many of ["<python>", "```python\n", "<tool_call>", "```", "{"]) parsed(many.repeat(200_000));
});
