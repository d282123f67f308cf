import { describe, expect, test } from "vitest";
import { parseAction } from "../../../../src/chat/formats/parse-action.ts";
import type { FormatName } from "../../../../src/contracts/format-name.ts";
import type { JsonObject } from "../../../../src/contracts/json.ts";

const tools = ["get_weather", "now"].map((name) => ({
  name,
  description: "",
  parameters: { type: "object", properties: {} },
}));

/** The answer of an action, and of each call its name and arguments, or its problem without the example. */
function read(format: FormatName, text: string): [answer: string, ...calls: unknown[]] {
  const { answer, calls } = parseAction(text, { format, tools });
  return [
    answer,
    ...calls.map((call) =>
      call.problem === undefined
        ? { [call.name]: call.arguments }
        : call.problem.replace(/^error: | Write [\s\S]*/g, ""),
    ),
  ];
}

const rome: JsonObject = { get_weather: { city: "Rome" } };
const now: JsonObject = { now: {} };

describe("llama3-json: a list of calls", () => {
  const first = '{"name": "get_weather", "parameters": {"city": "Rome"}}';
  const second = '{"name": "now", "parameters": {}}';
  test.each([
    [`[${first}, ${second}]`, "", [rome, now]],
    [`[\n  ${first},\n  ${second}\n]`, "", [rome, now]],
    [`I look.\n[${first}]`, "I look.", [rome]],
    [`<|python_tag|>[${first}, ${second}]`, "", [rome, now]],
    [`[${first}, {"name": "now", "args": {}}]`, "", [rome, '"args" is no key of a tool call.']],
    [`[${first}, ${second}`, "", ["the tool call is not JSON."]],
    ['[{"name": "Ada", "age": 36}, {"name": "Bob", "age": 7}]', undefined, []],
    [`Options: [${first}, ${second}] are two.`, undefined, []],
    ["[1, 2]", undefined, []],
  ])("%s", (text, answer, calls) => {
    expect(read("llama3-json", text)).toEqual([answer ?? text, ...calls]);
  });
});

describe("calls whose opening mark is missing are told to the model", () => {
  test.each<[FormatName, string, string, unknown[]]>([
    ["mistral", 'get_weather[ARGS]{"city": "Rome"}', "get_weather", ["the tool call has no [TOOL_CALLS]."]],
    [
      "mistral",
      '[TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}now[ARGS]{}',
      "now",
      [rome, "the tool call has no [TOOL_CALLS]."],
    ],
    ["mistral", "Write `now[ARGS]{}` to call it.", "Write `now[ARGS]{}` to call it.", []],
    ["mistral", "Arguments follow [ARGS] in a call.", "Arguments follow [ARGS] in a call.", []],
    [
      "deepseek-v3",
      "function<｜tool▁sep｜>now\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
      "function<｜tool▁sep｜>now\n```json\n{}\n```<｜tool▁call▁end｜>",
      ["the tool call has no <｜tool▁call▁begin｜>."],
    ],
    ["pythonic", 'get_weather(city="Rome")', 'get_weather(city="Rome")', ["the tool call has no [."]],
    ["pythonic", "now()\nget_weather()", "now()\nget_weather()", ["the tool call has no [."]],
    ["pythonic", "Call now() first.", "Call now() first.", []],
    ["pythonic", "print()", "print()", []],
    ["hermes", "The mark `</tool_call>` ends a call.", "The mark `</tool_call>` ends a call.", []],
  ])("%s: %s", (format, text, answer, calls) => {
    expect(read(format, text)).toEqual([answer, ...calls]);
  });
});

describe("marks that models write in place of their own", () => {
  const list = '[{"name": "get_weather", "arguments": {"city": "Rome"}}]';
  test.each<[FormatName, string, string, unknown[]]>([
    ["granite", `<tool_call>${list}`, "", [rome]],
    ["granite", `<tool_call>\n${list}\n</tool_call>`, "", [rome]],
    ["granite", "I write <tool_call> before calls.", "I write <tool_call> before calls.", []],
    [
      "kimi-k2",
      "<|tool_call_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_call_section_end|>",
      "",
      [now],
    ],
  ])("%s: %s", (format, text, answer, calls) => {
    expect(read(format, text)).toEqual([answer, ...calls]);
  });
});

describe("pythonic: of a list that is broken off, the last call is not made", () => {
  test.each([
    ['[get_weather(city="Rome")', ['the tool call can\'t be read: "," or "]" is missing at “”.']],
    [
      '[get_weather(city="Rome"), now()',
      [rome, 'the tool call can\'t be read: "," or "]" is missing at “”.'],
    ],
    [
      '[get_weather(city="Rome") now()]',
      ['the tool call can\'t be read: "," or "]" is missing at “now()]”.'],
    ],
  ])("%s", (text, calls) => expect(read("pythonic", text)).toEqual(["", ...calls]));
});

test("gemma-4: JSON's quotes are no part of names and texts", () => {
  const wrong = "the tool call can't be read:";
  expect(read("gemma-4", '<|tool_call>call:get_weather{"city":<|"|>Rome<|"|>}<tool_call|>')).toEqual([
    "",
    `${wrong} a name is not written without quotes at “"city":<|"|>Rome<|"|”.`,
  ]);
  expect(read("gemma-4", '<|tool_call>call:get_weather{city:"Rome"}<tool_call|>')).toEqual([
    "",
    `${wrong} a text is not written <|"|>…<|"|> at “"Rome"}”.`,
  ]);
});
