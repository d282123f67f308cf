import { describe, expect, test } from "vitest";
import { formats } from "../../../../src/chat/formats/formats.ts";
import type { FormatName } from "../../../../src/contracts/format-name.ts";
import type { ToolDefinition } from "../../../../src/contracts/message.ts";

const text = { type: "string" };
const tools: ToolDefinition[] = [
  { name: "f", description: "", parameters: { type: "object", properties: { x: text, y: text } } },
  {
    name: "code",
    description: "",
    parameters: { type: "object", required: ["code"], properties: { code: text } },
  },
];

/** Every mark that some format has, and calls as each of them writes them. */
const marks = new Set([
  ..."<think> </think> ``` ~~~ \r\n \r <|call|> <|start|> [TOOL_CALLS] [ARGS] Action: \nObservation: {} 🦜".split(
    " ",
  ),
  ...formats.flatMap(({ example, render }) => {
    const call = render([{ name: "f", arguments: { x: "1" } }], tools);
    return [call, example, ...`${call} ${example}`.matchAll(/<[^<>\s]+>|\[[A-Z_]+\]|```\w*/g)].map(String);
  }),
]);
const texts = [...marks].flatMap((mark) => [
  mark,
  `a ${mark} b`,
  `a\n${mark}\nb`,
  `a\r\n${mark}\r\nb\n`,
  `"${mark}"`,
]);

/** What a format cannot write, since it has no escapes: the model is told, or the format's quote is a token that no text has. */
const unwritable: Partial<Record<FormatName, RegExp>> = {
  "qwen3-coder": /^.{0,3}<parameter=\w+>.{0,4}$/s,
  "gemma-4": /<\|"\|>./s,
  "function-gemma": /<escape>./s,
};

describe.each(formats)("$name", ({ name, render, parse }) => {
  test("reads its calls again whatever marks stand in their texts", () => {
    for (const one of texts.filter((each) => unwritable[name]?.test(each) !== true)) {
      const calls = [
        { name: "f", arguments: { x: one, y: "ok" } },
        { name: "code", arguments: { code: one } },
        { name: "f", arguments: { x: "2" } },
      ];
      const read = parse(render(calls, tools), { tools });
      expect({ ...read, calls: read.calls.map(({ id: _, ...call }) => call) }, one).toEqual({
        reasoning: "",
        answer: "",
        calls,
      });
    }
  });
});

test("an argument's opening mark without its closing one is told", () => {
  const qwen = formats.find(({ name }) => name === "qwen3-coder");
  const calls = [{ name: "f", arguments: { x: "write <parameter=y> first" } }];
  expect(qwen?.parse(qwen.render(calls), { tools }).calls[0]?.problem).toContain("an argument is not closed");
});
