import { expect, test } from "vitest";
import code from "../../../../plugins/tool-code/everturn.plugin.json" with { type: "json" };
import { parseAction } from "../../../../src/apps/serve/actions.ts";

const querySchema = { type: "object", required: ["query"], properties: { query: { type: "string" } } };
const functions = [
  code.tool,
  { name: "search", description: "", parameters: querySchema },
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

const search = (...queries: string[]) =>
  queries.map((query) => ({ function: "search", arguments: { query } }));

test("two texts of one function are two calls, and several programs in one language are one", () => {
  expect(parsed("<search>Rome</search> and <search> Paris </search>")).toEqual(search("Rome", "Paris"));
  expect(parsed("```search\nRome\n```\n```search\nParis\n```")).toEqual(search("Rome", "Paris"));
  expect(parsed("```python\na = 1\n```\nthen\n```python\nprint(a)\n```")).toEqual(
    program("a = 1\nprint(a)", "python"),
  );
});

test("a call in a thought is none", () => {
  const call = '<tool_call>{"name": "clock"}</tool_call>';
  const inThought = ["<search>no</search>", "<python>no</python>", "```python\nno\n```", call];
  for (const thought of inThought) {
    expect(parsed(`<think>I could ${thought}.</think> Rome it is.`), thought).toBeUndefined();
    expect(parsed(`So I could ${thought}.</think> Rome it is.`), thought).toBeUndefined();
    expect(parsed(`<think>${thought}</think>\n<search>Rome</search>`), thought).toEqual(search("Rome"));
    expect(parsed(`${thought}\n</think>\n<search>Rome</search>`), thought).toEqual(search("Rome"));
    expect(parsed(`<think>a</think>b <think>${thought}</think><search>Rome</search>`), thought).toEqual(
      search("Rome"),
    );
  }
  expect(parsed("<search>maybe</think><search>Rome</search>")).toEqual(search("Rome"));
  expect(parsed('<think>hm</think>{"name": "clock"}')).toEqual([{ function: "clock", arguments: {} }]);
  expect(parsed("<think>I could <search>no</search>")).toEqual([
    { problem: "the thought is not ended, so that no call in it is made. End it, then call" },
  ]);
  expect(parsed("<think>hm")).toBeUndefined();
});

test("marks within a call are text", () => {
  const clock = (note: string) =>
    `<tool_call>{"name": "a", "arguments": {"note": ${JSON.stringify(note)}}}</tool_call>`;
  for (const note of ["<think>", "</think>", "</tool_call>", "<search>x</search>", "```python\n1\n```"])
    expect(parsed(clock(note)), note).toEqual([{ function: "a", arguments: { note } }]);
  expect(parsed("<search>what is </think> for?</search>")).toEqual(search("what is </think> for?"));
  expect(parsed("<python>print('<search>x</search>')</python>")).toEqual(
    program("print('<search>x</search>')", "python"),
  );
  expect(parsed('```python\nprint("```")\nprint(2)\n```\n')).toEqual(
    program('print("```")\nprint(2)', "python"),
  );
  expect(parsed('````python\ntext = """\n```\n"""\n````')).toEqual(program('text = """\n```\n"""', "python"));
  expect(parsed("```python\r\nprint(1)\r\n```\r\n")).toEqual(program("print(1)", "python"));
});

test("JSON alone is a call only if it calls something", () => {
  expect(parsed('{"name": "Ada", "age": 36}')).toBeUndefined();
  expect(parsed('{"name": "Ada"}')).toBeUndefined();
  expect(parsed('{"name": "none", "arguments": {"a": 1}}')).toEqual([
    { function: "none", arguments: { a: 1 } },
  ]);
});

test("a number that a double would change is a problem that names it", () => {
  for (const number of ["9007199254740993", "1e999", "0.1234567890123456789"])
    expect(parsed(`<tool_call>{"name": "a", "arguments": {"id": ${number}}}</tool_call>`)).toEqual([
      { problem: expect.stringContaining(number) },
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
  for (const many of [
    "<python>",
    "```python\n",
    "<tool_call>",
    "```",
    "{",
    "<think>",
    "</think>",
    "<tool_call>{",
    "<tool_call>{</tool_call>",
    "```python\n```",
    "<python></think><python>",
  ])
    parsed(many.repeat(100_000));
});
