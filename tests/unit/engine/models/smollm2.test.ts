import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { importModel } from "../../../../src/engine/models/policy/import-model.ts";
import { readWeights } from "../../../../src/engine/models/weights/checkpoint.ts";
import { compileChatTemplate } from "../../../../src/engine/tokens/chat-template.ts";
import { loadTokenizer, type Tokenizer } from "../../../../src/engine/tokens/tokenizer.ts";

// The fixtures are transformers' own reading of the same GGUF file: scripts/make-smollm2-fixtures.py.
const fixtures = join(import.meta.dirname, "../../../fixtures/smollm2");
const folder = await mkdtemp(join(tmpdir(), "everturn-smollm2-"));
let tokenizer: Tokenizer;

beforeAll(async () => {
  await importModel("smollm2-135m-instruct", folder);
  tokenizer = await loadTokenizer(folder);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function fixture(name: string) {
  return JSON.parse(await readFile(join(fixtures, name), "utf8"));
}

test("every tensor is the one that transformers dequantizes, bit by bit", async () => {
  const expected = await fixture("tensors.json");
  const weights = await readWeights(folder);
  const found = [...weights].map(([name, { shape, data }]) => [
    name,
    { shape, sha256: createHash("sha256").update(new Uint8Array(data.buffer)).digest("hex") },
  ]);
  expect(found.length).toBe(272);
  expect(Object.fromEntries(found)).toEqual(expected);
});

test("texts have the token ids that Python gives, and come back from them", async () => {
  const { encode } = await fixture("tokenizer.json");
  expect(encode.length).toBeGreaterThan(100);
  for (const { text, tokens } of encode) {
    expect([text, tokenizer.encode(text)]).toEqual([text, tokens]);
    expect(tokenizer.decode(tokens)).toBe(text);
  }
});

test("chats are rendered as transformers renders them", async () => {
  const render = compileChatTemplate(tokenizer.chatTemplate, tokenizer.specialTokens);
  for (const { messages, generate, text } of (await fixture("tokenizer.json")).chats) {
    expect(render(messages, [], generate)).toBe(text);
  }
});
