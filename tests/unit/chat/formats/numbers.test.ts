import { describe, expect, test } from "vitest";
import { formats } from "../../../../src/chat/formats/formats.ts";
import type { FormatName } from "../../../../src/contracts/format-name.ts";

/** Formats whose arguments stand as plain texts: without a schema such a number stays a text. */
const plain: readonly FormatName[] = ["qwen3-coder", "glm-4.5", "minimax-m2"];
const inexact = ["9007199254740993", "-9007199254740993", "1e999", "1e-400", "0.1234567890123456789"];

describe.each(formats)("$name", ({ name, render, parse }) => {
  const written = (literal: string) =>
    render([{ name: "order", arguments: { id: 123456789 } }]).replace("123456789", literal);

  test.each(inexact)("%s reaches no tool as another number", (literal) => {
    const { calls } = parse(written(literal));
    expect(calls).toHaveLength(1);
    if (plain.includes(name)) expect(calls[0]).toMatchObject({ arguments: { id: literal } });
    else
      expect(calls[0]?.problem).toContain(`the number ${literal} cannot be kept exactly: write it as a text`);
  });

  test.each(["9007199254740992", "-7", "0.5", "1e+21"])("%s is a number", (literal) => {
    expect(parse(written(literal)).calls).toMatchObject([
      { name: "order", arguments: { id: Number(literal) } },
    ]);
  });
});

test("a number that is written exactly is not changed by what else a call has", () => {
  const hermes = formats.find(({ name }) => name === "hermes");
  const call = (given: string) => `<tool_call>{"name":"f","arguments":${given}}</tool_call>`;
  const { calls = [] } =
    hermes?.parse(call('{"a":{"b":[1,9007199254740993]}}') + call('{"a":"9007199254740993"}')) ?? {};
  expect(calls[0]?.problem).toContain("9007199254740993");
  expect(calls[1]).toMatchObject({ arguments: { a: "9007199254740993" } });
});

test("one call of a list that holds such a number does not keep the others from being made", () => {
  const mistral = formats.find(({ name }) => name === "mistral-json");
  const text = '[TOOL_CALLS][{"name":"a","arguments":{"x":1e999}},{"name":"b","arguments":{"x":[1,"]"]}}]';
  expect(mistral?.parse(text).calls).toEqual([
    {
      id: "call00000",
      text: '{"name":"a","arguments":{"x":1e999}}',
      problem: expect.stringContaining("1e999"),
    },
    { id: "call00001", name: "b", arguments: { x: [1, "]"] } },
  ]);
});

test("Python's numbers are exact in each of their notations", () => {
  const pythonic = formats.find(({ name }) => name === "pythonic");
  const read = (literal: string) => pythonic?.parse(`[f(x=${literal})]`).calls[0];
  expect(read("1_000")).toMatchObject({ arguments: { x: 1000 } });
  expect(read("0x1F")).toMatchObject({ arguments: { x: 31 } });
  expect(read("0x20000000000001")?.problem).toContain("0x20000000000001 cannot be kept exactly");
  expect(read("9_007_199_254_740_993")?.problem).toContain("9_007_199_254_740_993 cannot be kept exactly");
  expect(read("007")?.problem).toContain("the number 007 begins with 0");
});
