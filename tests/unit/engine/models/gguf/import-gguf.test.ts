import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parseModelConfig } from "../../../../../src/engine/models/config/model-config-file.ts";
import { readWeights } from "../../../../../src/engine/models/weights/checkpoint.ts";
import { exportGguf } from "../../../../../src/engine/models/weights/gguf/export-gguf.ts";
import { importGguf } from "../../../../../src/engine/models/weights/gguf/import-gguf.ts";
import type { Tensor } from "../../../../../src/engine/models/weights/safetensors.ts";
import { loadTokenizer } from "../../../../../src/engine/tokens/tokenizer.ts";
import { temporaryFolder } from "../../../../support/temporary-folder.ts";

const fixtures = join(import.meta.dirname, "../../../../fixtures/gguf");
const work = temporaryFolder();

/** What scripts/make-gguf-fixtures.py wrote of a model. */
interface Expected {
  config: Record<string, unknown>;
  tensors: Record<string, string>;
  encode: { text: string; tokens: number[] }[];
}

async function expectedOf(model: string): Promise<Expected> {
  return JSON.parse(await readFile(join(fixtures, `${model}.json`), "utf8"));
}

async function importInto(file: string, name: string): Promise<string> {
  const folder = join(work, name);
  await mkdir(folder);
  await importGguf(file, folder);
  return folder;
}

function digests(weights: ReadonlyMap<string, Tensor>): Record<string, string> {
  return Object.fromEntries(
    [...weights].map(([name, { data }]) => [
      name,
      createHash("sha256").update(new Uint8Array(data.buffer)).digest("hex"),
    ]),
  );
}

const bytePairs = ["llama3", "nemo", "qwen2", "qwen3", "smollm3", "phi3", "qwen3moe", "olmoe"];
const pieces = ["mistral", "gemma", "gemma2", "gemma3"];

describe.each([...bytePairs, ...pieces])("%s", (model) => {
  let folder: string;
  let expected: Expected;

  beforeAll(async () => {
    expected = await expectedOf(model);
    folder = await importInto(join(fixtures, `${model}.gguf`), model);
  });

  test("its weights are those it was made from, by Hugging Face's names", async () => {
    expect(digests(await readWeights(folder))).toEqual(expected.tensors);
  });

  test("its configuration is the one it was made from", async () => {
    const read = parseModelConfig(await readFile(join(folder, "config.json"), "utf8"), "config.json");
    const wanted = parseModelConfig(JSON.stringify(expected.config), model);
    // GGUF knows Mistral as a Llama, and no width of random weights
    expect(read).toEqual({ ...wanted, model_type: read.model_type, initializer_range: 0.02 });
    expect(read.model_type).toBe(model === "mistral" ? "llama" : wanted.model_type);
  });

  test("its tokenizer gives transformers' ids", async () => {
    const tokenizer = await loadTokenizer(folder);
    for (const { text, tokens } of expected.encode)
      expect([text, tokenizer.encode(text)]).toEqual([text, tokens]);
    expect(tokenizer.endOfTurn).toEqual({ text: "<eos>", id: 2 });
    expect(tokenizer.chatTemplate).toContain("{% for m in messages %}");
  });

  test("written as GGUF again and imported, it is the same", async () => {
    const file = join(work, `${model}.gguf`);
    await exportGguf(folder, await readWeights(folder), file, "F32");
    const again = await importInto(file, `${model}-again`);
    for (const name of ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]) {
      const [first, second] = await Promise.all([folder, again].map((path) => readFile(join(path, name))));
      expect([name, second!.equals(first!)]).toEqual([name, true]);
    }
  });
});
