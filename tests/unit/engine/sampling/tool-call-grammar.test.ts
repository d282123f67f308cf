import { expect, test } from "vitest";
import { createToolCallGrammar } from "../../../../src/engine/sampling/tool-call-grammar.ts";
import { loadTokenizer } from "../../../../src/engine/tokens/tokenizer.ts";
import { readVocabulary } from "../../../../src/engine/tokens/vocabulary.ts";

const folder = new URL("../../../../pipelines/calculator/tokenizer", import.meta.url).pathname;
const tokenizer = await loadTokenizer(folder);
const vocabulary = await readVocabulary(folder);
const grammar = await createToolCallGrammar(vocabulary, tokenizer.vocabularySize, [tokenizer.endOfTurn.id]);
const calculator = {
  name: "calculator",
  description: "Evaluates an expression.",
  parameters: {
    type: "object",
    properties: { expression: { type: "string" } },
    required: ["expression"],
    additionalProperties: false,
  },
};

/** How far the grammar lets a text come: the part before the first token that it forbids. */
async function allowedPart(text: string, tools = [calculator]): Promise<string> {
  const constraint = await grammar(tools);
  const taken: number[] = [];
  for (const token of tokenizer.encode(text)) {
    const allowed = await constraint.allowed();
    if (((allowed[token >>> 5]! >>> (token & 31)) & 1) === 0) break;
    constraint.accept(token);
    taken.push(token);
  }
  constraint.dispose();
  return tokenizer.decode(taken);
}

test("text is free, and so is what comes after a call", async () => {
  const call = '<tool_call>\n{"name": "calculator", "arguments": {"expression": "1+2"}}\n</tool_call>';
  const action = `7 + 8 {} ${call} and then<|im_end|>`;
  expect(await allowedPart(action)).toBe(action);
});

test("a call that has begun names a tool that there is, with arguments of its schema", async () => {
  const begun = '<tool_call>\n{"name": "calculator", "arguments": ';
  expect(await allowedPart('<tool_call>\n{"name": "shell", "arguments": ')).toBe('<tool_call>\n{"name": "');
  expect(await allowedPart(`${begun}{"other": 1}}`)).not.toContain("other");
  expect(await allowedPart(`${begun}{"expression": 12}}`)).not.toContain("12");
  expect(await allowedPart(`${begun}{"expression": "12"}<|im_end|>`)).toBe(`${begun}{"expression": "12"}`);
});

test("special tokens are no text of an argument", async () => {
  const begun = '<tool_call>\n{"name": "calculator", "arguments": {"expression": "1';
  expect(await allowedPart(`${begun}<|im_start|>`)).toBe(begun);
});

test("without tools everything is free", async () => {
  expect(await allowedPart("<tool_call>what you like</tool_call>", [])).toBe(
    "<tool_call>what you like</tool_call>",
  );
});

test("a schema that can't be understood is refused, by the tool's name", async () => {
  const broken = { ...calculator, parameters: { type: "nothing" } };
  await expect(grammar([broken])).rejects.toThrow("Calls of the tools calculator can't be constrained");
});
