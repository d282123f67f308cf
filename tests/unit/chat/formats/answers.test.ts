import { describe, expect, test } from "vitest";
import { parseAction } from "../../../../src/chat/formats/parse-action.ts";
import type { FormatName } from "../../../../src/contracts/format-name.ts";

const querySchema = { type: "object", required: ["query"], properties: { query: { type: "string" } } };
const tools = [
  { name: "clock", description: "", parameters: {} },
  { name: "search", description: "", parameters: querySchema },
];
const read = (format: FormatName, text: string) => {
  const { reasoning, answer, calls } = parseAction(text, { format, tools });
  return { reasoning, answer, calls: calls.map((call) => call.problem ?? [call.name, call.arguments]) };
};

describe("JSON that is no call is an answer", () => {
  test.each([
    '{"name": "Ada", "age": 36}',
    '{"city": "Rome", "days": [1, 2]}',
    '{\n  "name": "Ada",\n  "born": {"year": 1815}\n}',
    'Here it is:\n{"name": "Ada"}\n{"name": "Bo"}\nThat is all.',
    '{"title": "broken off',
    '{"id": 9007199254740993}',
    "The set {1, 2}\nand {x}.",
  ])("%s", (text) => expect(read("llama3-json", text)).toEqual({ reasoning: "", answer: text, calls: [] }));

  test("the same without tools", () => {
    const { answer, calls } = parseAction('{"name": "Ada", "age": 36}', { format: "llama3-json" });
    expect({ answer, calls }).toEqual({ answer: '{"name": "Ada", "age": 36}', calls: [] });
  });

  test("calls beside it are made", () => {
    expect(read("llama3-json", '{"a": 1}\n{"name": "clock", "parameters": {}}')).toEqual({
      reasoning: "",
      answer: '{"a": 1}',
      calls: [["clock", {}]],
    });
  });

  test.each<[string, unknown]>([
    ['{"name": "nosuch", "parameters": {"x": 1}}', ["nosuch", { x: 1 }]],
    ['{"name": "clock"}', ["clock", {}]],
    ['{"name": "search", "query": "x"}', expect.stringContaining('"query" is no key')],
    ['{"tool": "search", "arguments": {"query": "x"}}', expect.stringContaining('"tool" is no key')],
    ['{"name": "search", "parameters": {"query": "x"', expect.stringContaining("not JSON")],
    [
      '{"parameters": {"id": 9007199254740993}, "name": "search"}',
      expect.stringContaining("9007199254740993"),
    ],
  ])("%s is a call, or one with a problem", (text, call) => {
    expect(read("llama3-json", text).calls).toEqual([call]);
  });
});

describe("Python that is no call is an answer", () => {
  test.each([
    "[square(n) for n in numbers]",
    "[len()](https://docs.python.org/3/library/functions.html#len)",
    "[clock()](https://example.com)",
    "[len()][1] is a reference.",
    "[len()]: https://example.com",
    "[Point(x=1) for _ in range(3)]",
    "[f(x), g(x)]",
    "Use\n[sorted(key=len)] to sort.",
    "[1, 2] and [see](here)",
    "[nosuch(x=1, y=",
  ])("%s", (text) => expect(read("pythonic", text)).toEqual({ reasoning: "", answer: text, calls: [] }));

  test.each<[string, unknown[]]>([
    ["[clock()]", [["clock", {}]]],
    ["[len()](https://example.com)\n[clock()]", [["clock", {}]]],
    ["[clock()] now", [["clock", {}]]],
    ["[nosuch(x=1)]", [["nosuch", { x: 1 }]]],
    ["[clock(x) for x in y]", [expect.stringContaining("name=value")]],
  ])("%s calls", (text, calls) => expect(read("pythonic", text).calls).toEqual(calls));

  test("where no tools are known, arguments by name show that a call was meant", () => {
    const problems = (text: string) =>
      parseAction(text, { format: "pythonic" }).calls.map(({ problem }) => problem);
    expect(problems("[nosuch(x=1, y=")).toEqual([expect.stringContaining("can't be read")]);
    expect(problems("[square(n) for n in numbers]")).toEqual([]);
  });
});

describe("a thought begins the action", () => {
  test.each<[string, string, string]>([
    ["Write <think> first. 4", "", "Write <think> first. 4"],
    ["The tag <think>opens</think> a thought.", "", "The tag <think>opens</think> a thought."],
    ["<think>a</think>\n<think>b</think>\nc", "a\nb", "c"],
    ["<think>a</think>Close it with </think>.", "a", "Close it with </think>."],
    ["a</think>b", "a", "b"],
    ["I should write <think>x</think> here.</think>Done.", "I should write <think>x</think> here.", "Done."],
  ])("%s", (text, reasoning, answer) => {
    expect(read("hermes", text)).toEqual({ reasoning, answer, calls: [] });
  });

  const call = '<tool_call>{"name":"clock","arguments":{}}</tool_call>';
  test("a call after a mark that the answer speaks of is made; one between two marks is not", () => {
    expect(read("hermes", `I write <think> no more. ${call}`).calls).toEqual([["clock", {}]]);
    expect(read("hermes", `Perhaps <think>${call}</think> later.`).calls).toEqual([]);
  });

  test("where the marks are tokens a thought may begin anywhere", () => {
    expect(read("mistral", "I look. [THINK]Where?[/THINK]There.")).toEqual({
      reasoning: "Where?",
      answer: "I look. There.",
      calls: [],
    });
  });

  test("marks of thoughts within a call are text, also where calls have no marks", () => {
    const query = "what does <think>x</think> mean? </think>";
    for (const [format, text] of [
      ["llama3-json", `{"name": "search", "parameters": {"query": "${query}"}}`],
      ["pythonic", `[search(query="${query}")]`],
      ["react", `Action: search\nAction Input: {"query": "${query}"}`],
      ["react", `Action: search\nAction Input: ${query}`],
      ["fenced", `\`\`\`search\n${query}\n\`\`\``],
    ] as const)
      expect(read(format, text)).toEqual({ reasoning: "", answer: "", calls: [["search", { query }]] });
  });
});

describe("harmony: what the model made up for others does not count", () => {
  const final = (text: string) => `<|channel|>final<|message|>${text}`;
  const call = "<|channel|>commentary to=functions.clock <|constrain|>json<|message|>{}<|call|>";
  test.each<[string, string, unknown[]]>([
    [
      `${final("4")}<|end|><|start|>user<|message|>And?<|end|><|start|>assistant${final("10")}<|return|>`,
      "4",
      [],
    ],
    [`${final("4")}<|end|><|start|>system<|message|>Go on.<|end|><|start|>assistant${call}`, "4", []],
    [
      `${call}<|start|>functions.clock to=assistant<|channel|>commentary<|message|>12<|end|><|start|>assistant${final("noon")}`,
      "",
      [["clock", {}]],
    ],
    [`<|start|>assistant${final("4")}`, "4", []],
    ["<|start|>user<|message|>Hm?<|end|>", "", []],
  ])("%s", (text, answer, calls) => expect(read("harmony", text)).toEqual({ reasoning: "", answer, calls }));

  test("tokens within a call's JSON are text", () => {
    const query = "<|call|><|start|>user<|message|>x<|end|>";
    const text = `<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"query": "${query}"}<|call|>`;
    expect(read("harmony", text).calls).toEqual([["search", { query }]]);
  });
});
