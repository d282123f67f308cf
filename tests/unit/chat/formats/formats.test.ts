import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expressionProblem, expressionReader } from "../../../../src/chat/formats/expression.ts";
import { formats } from "../../../../src/chat/formats/formats.ts";
import { parseAction } from "../../../../src/chat/formats/parse-action.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../../src/contracts/json.ts";
import type { ToolCall, ToolDefinition } from "../../../../src/contracts/message.ts";

/** An action as a model writes it, and what it means: a problem is a part of what the model is told. */
interface Case {
  what: string;
  text: string;
  reasoning: string;
  answer: string;
  calls: ({ name: string; arguments: JsonObject; id?: string } | { problem: string })[];
}

const folder = join(import.meta.dirname, "..", "..", "..", "fixtures", "formats");
const fixtureTools: ToolDefinition[] = JSON.parse(readFileSync(join(folder, "tools.json"), "utf8"));

test.each(formats)("$name reads its cases", ({ name, parse }) => {
  const lines = readFileSync(join(folder, `${name}.jsonl`), "utf8")
    .trim()
    .split("\n");
  const cases = lines.map((line): Case => JSON.parse(line));
  expect(new Set(cases.map(({ text }) => text)).size).toBeGreaterThanOrEqual(20);
  for (const { what, text, reasoning, answer, calls } of cases) {
    const wanted = calls.map((call) =>
      "problem" in call
        ? expect.objectContaining({ problem: expect.stringContaining(call.problem) })
        : { id: expect.any(String), ...call },
    );
    expect(parse(text, { tools: fixtureTools }), `${what}: ${text}`).toEqual({
      reasoning,
      answer,
      calls: wanted,
    });
  }
});

const markedCall = (text: string) => `<tool_call>${text}</tool_call>`;
const problemOf = (text: string) => parseAction(text).calls[0]?.problem;

test("a call that can't be read tells the model how to write it, and keeps what it wrote", () => {
  expect(parseAction(markedCall("calculator(1 + 2)")).calls).toEqual([
    {
      id: "call00000",
      text: "calculator(1 + 2)",
      problem:
        'error: the tool call is not JSON. Write <tool_call>{"name": "…", "arguments": {…}}</tool_call>',
    },
  ]);
  expect(problemOf('<tool_call>{"name": "add"}')).toContain("the tool call is not closed");
  expect(problemOf(markedCall('{"arguments": {}}'))).toContain("the tool call names no tool");
  expect(problemOf(markedCall('["add"]'))).toContain("the tool call names no tool");
  expect(problemOf(markedCall('{"name": "add", "arguments": [1]}'))).toContain(
    '"arguments" is not an object',
  );
  expect(
    problemOf(markedCall(`{"name": "add", "arguments": ${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`)),
  ).toContain("not JSON");
});

test("ids are numbered through a trajectory, and a model's own are kept", () => {
  const ids = (text: string, callsBefore: number) =>
    parseAction(text, { callsBefore }).calls.map(({ id }) => id);
  const [one, named] = [markedCall('{"name": "a"}'), markedCall('{"name": "a", "id": "abcdefgh1"}')];
  expect(ids(one + named + named, 12)).toEqual(["call00012", "abcdefgh1", "call00014"]);
});

/** The same numbers every time (mulberry32). */
function draws(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const pieces = [
  ..."abz \n\t\"'\\/{}[]()<>=:;,.#`|-_0",
  "é",
  "漢字",
  "🦜",
  "\u2028",
  "\u200f",
  "\0",
  "true",
  "None",
  "1e3",
  "</",
  "<|",
  "]]>",
  "&amp;",
  "\\n",
  "'''",
];

function textBy(draw: (below: number) => number, length: number): string {
  return Array.from({ length: draw(length) }, () => pieces[draw(pieces.length)]).join("");
}

function valueBy(draw: (below: number) => number, depth: number): JsonValue {
  const kind = draw(depth > 2 ? 5 : 7);
  if (kind < 2) return textBy(draw, 12);
  if (kind === 2) return [0, -7, 1.5, 1e21, 2 ** 53, -0.001][draw(6)] ?? 0;
  if (kind === 3) return draw(2) === 0;
  if (kind === 4) return null;
  if (kind === 5) return Array.from({ length: draw(4) }, () => valueBy(draw, depth + 1));
  return Object.fromEntries(
    Array.from({ length: draw(4) }, (_, index) => [`k${index}`, valueBy(draw, depth + 1)]),
  );
}

const typeOf = (value: JsonValue) =>
  value === null ? "null" : Array.isArray(value) ? "array" : isObject(value) ? "object" : typeof value;

/** A call, and the tool that it is of. */
function callBy(draw: (below: number) => number, index: number): { call: ToolCall; tool: ToolDefinition } {
  const names = ["f", "get_weather", "ns.look-up", "função", "tool_call", "x9"];
  const name = `${names[draw(names.length)]}${index}`;
  const given: JsonObject = Object.fromEntries(
    Array.from({ length: draw(4) }, (_, key) => [`a${key}_é`, valueBy(draw, 0)]),
  );
  const properties = Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, { type: typeOf(value) }]),
  );
  return {
    call: { name, arguments: given },
    tool: { name, description: "", parameters: { type: "object", properties } },
  };
}

/** Marks that can't stand in a text that a format writes as it is. */
const marks = ["</", "```", "<|"];
const isPlain = (value: JsonValue): boolean =>
  typeof value === "string"
    ? !marks.some((mark) => value.includes(mark))
    : typeof value !== "object" || value === null || Object.values(value).every(isPlain);

test("what a format writes it reads again, whatever stands in the arguments", () => {
  const draw = draws(17);
  for (const { name, parse, render } of formats) {
    for (let round = 0; round < 150; round++) {
      const made = Array.from({ length: 1 + draw(3) }, (_, index) => callBy(draw, index));
      const calls = made.map(({ call }) => call).filter((call) => isPlain(call.arguments));
      const tools = made.map(({ tool }) => tool);
      const text = render(calls, tools);
      const read = parse(calls.length === 0 ? "" : text, { tools });
      const again = read.calls.map(({ id: _, ...call }) => call);
      expect(again, `${name}: ${text}`).toEqual(calls);
      expect(read).toMatchObject({ reasoning: "", answer: "" });
    }
  }
});

const searchTool: ToolDefinition = {
  name: "search",
  description: "",
  parameters: { type: "object", required: ["query"], properties: { query: { type: "string" } } },
};

/** What means something to one format or another. */
const meaning = formats.flatMap(({ example, render }) => {
  const written = render([{ name: "search", arguments: { query: "q" } }], [searchTool]);
  return [example, written].flatMap((text) => text.split(/(?<=[>\]`:{("])|(?=[<[`{("])/));
});
const tokens = [...new Set(meaning), "<think>", "</think>", "[THINK]", "\n", " ", "x", "\\"];

test("no text makes a format throw: each call has an id of its own, and can be sent as JSON", () => {
  const draw = draws(3);
  for (const { name, parse } of formats) {
    for (let round = 0; round < 250; round++) {
      const text = Array.from({ length: draw(40) }, () => tokens[draw(tokens.length)]).join("");
      const { calls, answer, reasoning } = parse(text, { tools: [searchTool] });
      expect(new Set(calls.map(({ id }) => id)).size, `${name}: ${text}`).toBe(calls.length);
      expect(JSON.parse(JSON.stringify(calls))).toHaveLength(calls.length);
      for (const call of calls)
        if (call.problem !== undefined) expect(call.problem).toMatch(/^error: .* Write /s);
      expect((answer + reasoning).length).toBeLessThanOrEqual(text.length + calls.length);
    }
  }
});

test("long hostile texts are read in a time that grows with their length alone", () => {
  const draw = draws(5);
  const length = 2 ** 18;
  for (const { parse, render } of formats) {
    const written = render([{ name: "search", arguments: { query: "q" } }], [searchTool]);
    const own = written.split(/(?<=[>\]`:{("])|(?=[<[`{("])/);
    const half = written.slice(0, written.length / 2);
    const mixed = Array.from({ length: length / 8 }, () => own[draw(own.length)]).join("");
    const repeated = [
      written,
      half,
      ...own,
      "<think>",
      "</think>",
      '{"',
      "[".repeat(9),
      "\n",
      " ",
      `${half}\n{[`,
    ];
    for (const text of [mixed, ...repeated.map((one) => one.repeat(length / Math.max(1, one.length)))])
      expect(parse(text, { tools: [searchTool] }).calls.length).toBeLessThan(length);
  }
});

test("an expression's groups are a call's function and arguments; without a match there is none", () => {
  const read = (pattern: string, text: string, more: { function?: string } = {}) =>
    expressionReader({ pattern, example: "so", stop: [], ...more })(text, fixtureTools);
  const found = (name: string, given: JsonObject) => [{ name, arguments: given }];
  const weather = { function: "get_weather" };
  const search = "(?s)<search>(?<query>.*?)(?:</search>|$)";
  expect(
    read(search, "<think><search>a</search></think>I look. <search> who?\n", { function: "search" }),
  ).toEqual({
    reasoning: "<search>a</search>",
    answer: "I look. ",
    calls: found("search", { query: "who?" }),
  });
  expect(
    read("(?m)^(?<city>\\w+)(?: for (?<days>\\d+) days)?$", "Rome for 2 days\n5", weather).calls,
  ).toEqual([...found("get_weather", { city: "Rome", days: 2 }), ...found("get_weather", { city: "5" })]);
  const call = "(?<function>\\w+): (?<arguments>.*)";
  expect(read(call, 'clock: {}\nclock: []\nclock: {"a": 1').calls).toEqual([
    ...found("clock", {}),
    { text: "clock: []", problem: "error: the arguments are not a JSON object. Write so" },
    { text: 'clock: {"a": 1', problem: "error: the arguments are not a JSON object. Write so" },
  ]);
  expect(read("(x+x+)+(?<function>y)", "x".repeat(200_000)).calls).toEqual([]);
  expect(read("(?<function>)", "abc")).toEqual({ reasoning: "", answer: "abc", calls: [] });
});

test("an expression that is none, or calls nothing, is told", () => {
  const problem = (pattern: string) => expressionProblem({ pattern, example: "", stop: [] });
  expect(problem("(?<function>a)(?=b)")?.reason).toMatch(/^is no regular expression: .*\(\?=/);
  expect(problem("(?<query>a)")?.reason).toBe("does not say which function a match calls");
  expect(problem("(?<function>a)")).toBeUndefined();
});
