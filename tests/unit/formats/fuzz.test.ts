import { expect, test } from "vitest";
import { isObject, type JsonObject, type JsonValue } from "../../../src/contracts/json.ts";
import type { ToolCall, ToolDefinition } from "../../../src/contracts/message.ts";
import { formats } from "../../../src/formats/formats.ts";

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
  ...[
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
  ],
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

const search: ToolDefinition = {
  name: "search",
  description: "",
  parameters: { type: "object", required: ["query"], properties: { query: { type: "string" } } },
};

/** What means something to one format or another. */
const meaning = formats.flatMap(({ example, render }) => {
  const written = render([{ name: "search", arguments: { query: "q" } }], [search]);
  return [example, written].flatMap((text) => text.split(/(?<=[>\]`:{("])|(?=[<[`{("])/));
});
const tokens = [...new Set(meaning), "<think>", "</think>", "[THINK]", "\n", " ", "x", "\\"];

test("no text makes a format throw: each call has an id of its own, and can be sent as JSON", () => {
  const draw = draws(3);
  for (const { name, parse } of formats) {
    for (let round = 0; round < 250; round++) {
      const text = Array.from({ length: draw(40) }, () => tokens[draw(tokens.length)]).join("");
      const { calls, answer, reasoning } = parse(text, { tools: [search] });
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
    const written = render([{ name: "search", arguments: { query: "q" } }], [search]);
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
      expect(parse(text, { tools: [search] }).calls.length).toBeLessThan(length);
  }
});
