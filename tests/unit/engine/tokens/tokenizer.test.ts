import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadTokenizer } from "../../../../src/engine/tokens/tokenizer.ts";
import cases from "./fixtures/cases.json" with { type: "json" };

const tokenizer = await loadTokenizer(join(import.meta.dirname, "fixtures/tokenizer"));

test.each(cases.encode)("encodes as Python's tokenizers does: $text", ({ text, tokens }) => {
  expect(tokenizer.encode(text)).toEqual(tokens);
});

test("decodes any ids, characters cut short included, as Python's tokenizers does", () => {
  for (const { tokens, text } of cases.decode) expect(tokenizer.decode(tokens)).toBe(text);
});

test("encoding and decoding gives the text back", () => {
  for (const { text } of cases.encode) expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
  expect(tokenizer.encode("")).toEqual([]);
  expect(tokenizer.decode([])).toBe("");
});

test("knows the end of a turn, the special tokens and the size of the vocabulary", () => {
  expect(tokenizer.endOfTurn).toEqual({ text: "<|im_end|>", id: 2 });
  expect(tokenizer.specialTokens).toEqual({ eos_token: "<|im_end|>", pad_token: "<|endoftext|>" });
  expect(tokenizer.idOf("<|endoftext|>")).toBe(0);
  expect(tokenizer.vocabularySize).toBe(340);
});

test("refuses a folder without tokenizer, template or eos_token", async () => {
  const folder = await mkdtemp(join(tmpdir(), "everturn-tokenizer-"));
  await expect(loadTokenizer(folder)).rejects.toThrow("tokenizer.json can't be read");
  await writeFile(join(folder, "tokenizer.json"), "{");
  await expect(loadTokenizer(folder)).rejects.toThrow("tokenizer.json is not JSON");
  await writeFile(join(folder, "tokenizer.json"), "{}");
  await writeFile(join(folder, "tokenizer_config.json"), "{}");
  await expect(loadTokenizer(folder)).rejects.toThrow("there is no chat template");
  await writeFile(join(folder, "tokenizer_config.json"), '{"chat_template": "{{ messages }}"}');
  await expect(loadTokenizer(folder)).rejects.toThrow("tokenizer.json is refused");
});
