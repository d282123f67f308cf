import { describe, expect, test } from "vitest";
import { parseAction } from "../../../../src/chat/formats/parse-action.ts";
import type { FormatName } from "../../../../src/contracts/format-name.ts";

const read = (format: FormatName, text: string) => {
  const { calls, answer } = parseAction(text, { format });
  return { answer, calls: calls.map((call) => call.problem ?? [call.name, call.arguments]) };
};
const problem = (part: string) => ({ answer: expect.any(String), calls: [expect.stringContaining(part)] });

describe("a key that is none of a call's", () => {
  const around: [FormatName, (call: string) => string, string][] = [
    ["hermes", (call) => `<tool_call>${call}</tool_call>`, "name"],
    ["llama3-json", (call) => call, "name"],
    ["mistral", (call) => `[TOOL_CALLS][${call}]`, "name"],
    ["mistral-json", (call) => `[TOOL_CALLS][${call}]`, "name"],
    ["minimax-m1", (call) => `<tool_calls>\n${call}\n</tool_calls>`, "name"],
    ["granite", (call) => `<|tool_call|>[${call}]`, "name"],
    ["nemotron", (call) => `<TOOLCALL>[${call}]</TOOLCALL>`, "name"],
    ["command-r", (call) => `Action: \`\`\`json\n[${call}]\n\`\`\``, "tool_name"],
    ["command-a", (call) => `<|START_ACTION|>[${call}]<|END_ACTION|>`, "tool_name"],
    ["xml-tags", (call) => `<tool>${call}</tool>`, "name"],
    ["fenced", (call) => `\`\`\`tool_call\n${call}\n\`\`\``, "name"],
  ];
  test.each(around)("%s", (format, call, name) => {
    for (const key of ["args", "params", "input", "kwargs"])
      expect(read(format, call(`{"${name}":"f","${key}":{"x":1}}`))).toEqual(
        problem(`"${key}" is no key of a tool call`),
      );
    expect(read(format, call(`{"${name}":"f","arguments":{"x":1},"why":"so"}`))).toEqual(
      format === "llama3-json" ? { answer: expect.any(String), calls: [] } : problem('"why" is no key'),
    );
    expect(read(format, call(`{"${name}":"f","arguments":{"x":1},"parameters":{"y":2}}`))).toEqual(
      problem('the arguments stand both in "arguments" and in "parameters"'),
    );
    expect(read(format, call(`{"${name}":"f","arguments":{"x":1,"x":2}}`))).toEqual(
      problem('"x" is given twice'),
    );
    expect(read(format, call(`{"${name}":"f","arguments":{"x":1}}`))).toEqual({
      answer: "",
      calls: [["f", { x: 1 }]],
    });
  });

  test("OpenAI's form is a call; what it would hide is told", () => {
    const hermes = (call: string) => read("hermes", `<tool_call>${call}</tool_call>`);
    expect(hermes('{"type":"function","id":"c","function":{"name":"f","arguments":{"x":1}}}').calls).toEqual([
      ["f", { x: 1 }],
    ]);
    expect(hermes('{"function":{"name":"f","args":{}}}')).toEqual(problem('"args"'));
    expect(hermes('{"name":"f","function":{"name":"g"}}')).toEqual(problem('"name" is given twice'));
    expect(hermes('{"name":"f","tool_name":"g"}')).toEqual(problem("names two tools"));
  });
});

describe("arguments that are given twice", () => {
  test.each<[FormatName, string]>([
    [
      "qwen3-coder",
      "<tool_call>\n<function=f>\n<parameter=x>\n1\n</parameter>\n<parameter=x>\n2\n</parameter>\n</function>\n</tool_call>",
    ],
    [
      "glm-4.5",
      "<tool_call>f\n<arg_key>x</arg_key>\n<arg_value>1</arg_value>\n<arg_key>x</arg_key>\n<arg_value>2</arg_value>\n</tool_call>",
    ],
    [
      "minimax-m2",
      '<minimax:tool_call>\n<invoke name="f">\n<parameter name="x">1</parameter>\n<parameter name="x">2</parameter>\n</invoke>\n</minimax:tool_call>',
    ],
    ["pythonic", "[f(x=1, x=2)]"],
    ["lfm2", '<|tool_call_start|>[f(y={"x": 1, "x": 2})]<|tool_call_end|>'],
    ["gemma-4", "<|tool_call>call:f{x:1,x:2}<tool_call|>"],
    ["harmony", '<|channel|>commentary to=functions.f<|message|>{"x":1,"x":2}<|call|>'],
    ["kimi-k2", '<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"x":1,"x":2}<|tool_call_end|>'],
    ["deepseek-v3.1", '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"x":1,"x":2}<｜tool▁call▁end｜>'],
    ["mistral", '[TOOL_CALLS]f[ARGS]{"x":1,"x":2}'],
    ["react", 'Action: f\nAction Input: {"x":1,"x":2}'],
  ])("%s", (format, text) => expect(read(format, text)).toEqual(problem('"x" is given twice')));
});

describe("what stands where an argument should", () => {
  const qwen = (inside: string) => `<tool_call>\n<function=f>\n${inside}\n</function>\n</tool_call>`;
  test.each<[FormatName, string]>([
    ["qwen3-coder", qwen('{"x": 1}')],
    ["qwen3-coder", qwen("<parameter=x>\n1\n</parameter>\nand also\n<parameter=y>\n2\n</parameter>")],
    ["qwen3-coder", qwen("<parameter=x>\n1\n</parameter>\nand that is all")],
    ["qwen3-coder", qwen("x = 1\n<parameter=y>\n2\n</parameter>")],
    ["glm-4.5", '<tool_call>f\n{"x": 1}\n</tool_call>'],
    [
      "glm-4.5",
      "<tool_call>f\n<arg_key>x</arg_key>\n<arg_value>1</arg_value>\ng\n<arg_key>y</arg_key>\n<arg_value>2</arg_value>\n</tool_call>",
    ],
    ["minimax-m2", '<minimax:tool_call>\n<invoke name="f">\n{"x": 1}\n</invoke>\n</minimax:tool_call>'],
    [
      "deepseek-v3.2",
      '<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n{"x": 1}\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    ],
  ])("%s: %s", (format, text) =>
    expect(read(format, text)).toEqual(problem("stands where an argument should")),
  );
});

test("an argument that is not closed does not take the next one, or the next call", () => {
  const open =
    "<tool_call>\n<function=f>\n<parameter=x>\n1\n<parameter=y>\n2\n</parameter>\n</function>\n</tool_call>";
  expect(read("qwen3-coder", open)).toEqual(problem("an argument is not closed"));
  const next = "<tool_call>\n<function=g>\n<parameter=y>\n2\n</parameter>\n</function>\n</tool_call>";
  const { calls } = read("qwen3-coder", `${open}\n${next}`);
  expect(calls).toEqual([expect.stringContaining("an argument is not closed"), ["g", { y: 2 }]]);
});

test("each call of a block is one, and one that can't be read does not keep the others from being made", () => {
  const call = (name: string, value: string) => `<function=${name}>\n<parameter=x>\n${value}\n</function>\n`;
  const whole = (name: string, value: string) => call(name, `${value}\n</parameter>`);
  expect(
    read("qwen3-coder", `<tool_call>\n${whole("a", "1")}${whole("b", "2")}${whole("c", "3")}</tool_call>`)
      .calls,
  ).toEqual([
    ["a", { x: 1 }],
    ["b", { x: 2 }],
    ["c", { x: 3 }],
  ]);
  expect(read("qwen3-coder", `<tool_call>\n${whole("a", "1")}${call("b", "2")}</tool_call>`).calls).toEqual([
    ["a", { x: 1 }],
    expect.stringContaining("an argument is not closed"),
  ]);
});

describe("a call without its opening mark", () => {
  const call = "<function=f>\n<parameter=x>\n1\n</parameter>\n</function>";
  const invoke = '<invoke name="f">\n<parameter name="x">1</parameter>\n</invoke>';
  test.each<[FormatName, string, string]>([
    ["qwen3-coder", `${call}\n</tool_call>`, ""],
    ["qwen3-coder", call, ""],
    ["qwen3-coder", `I look.\n${call}\n</tool_call>`, "I look."],
    ["qwen3-coder", `I look. ${call}</tool_call>`, "I look."],
    ["minimax-m2", `${invoke}\n</minimax:tool_call>`, ""],
    ["minimax-m2", invoke, ""],
  ])("%s: %s", (format, text, answer) =>
    expect(read(format, text)).toEqual({ answer, calls: [["f", { x: 1 }]] }),
  );

  test.each<[FormatName, string]>([
    ["qwen3-coder", "<function=f>\n<parameter=x>\n1\n</function>\n</tool_call>"],
    ["qwen3-coder", "<function=f>\n<parameter=x>\n1"],
    ["glm-4.5", "f\n<arg_key>x</arg_key>\n<arg_value>1</arg_value>\n</tool_call>"],
    ["hermes", '{"name": "f", "arguments": {"x": 1}}\n</tool_call>'],
    ["nemotron", '[{"name": "f", "arguments": {"x": 1}}]</TOOLCALL>'],
    ["kimi-k2", 'functions.f:0<|tool_call_argument_begin|>{"x": 1}<|tool_call_end|>'],
    ["lfm2", "[f(x=1)]<|tool_call_end|>"],
    ["gemma-4", "call:f{x:1}<tool_call|>"],
  ])("%s: %s is told", (format, text) =>
    expect(read(format, text).calls).toEqual([expect.stringMatching(/^error: /)]),
  );

  test("a mark that an answer speaks of is no call", () => {
    for (const text of [
      "The tag <function=f> opens a call.",
      "Close it with </tool_call>, always.",
      "Open it with <tool_call> first.",
    ])
      expect(read("qwen3-coder", text)).toEqual({ answer: text, calls: [] });
    expect(read("hermes", "Open it with <tool_call> first.")).toEqual({
      answer: "Open it with <tool_call> first.",
      calls: [],
    });
    expect(read("hermes", 'I call <tool_call>{"name": "f"').calls).toEqual([
      expect.stringContaining("not closed"),
    ]);
    expect(read("hermes", "Close it with </tool_call>, always.").calls).toEqual([]);
  });
});
