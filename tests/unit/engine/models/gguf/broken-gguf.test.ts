import { cp, mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readGgufHeader } from "../../../../../src/engine/models/weights/gguf/header.ts";
import { importGguf } from "../../../../../src/engine/models/weights/gguf/import-gguf.ts";
import { readGgufTensors } from "../../../../../src/engine/models/weights/gguf/tensors.ts";
import { temporaryFolder } from "../../../../support/temporary-folder.ts";

const fixtures = join(import.meta.dirname, "../../../../fixtures/gguf");
const work = temporaryFolder();
const whole = await readFile(join(fixtures, "quantized.gguf"));
const model = await readFile(join(fixtures, "qwen2.gguf"));

async function file(bytes: Uint8Array): Promise<string> {
  const path = join(work, "changed.gguf");
  await writeFile(path, bytes);
  return path;
}

/** The file with other bytes where `text` ends, counted from there. */
function after(
  bytes: Buffer,
  text: string,
  offset: number,
  change: (at: number, copy: Buffer) => void,
): Buffer {
  const copy = Buffer.from(bytes);
  const at = copy.indexOf(text);
  if (at < 0) throw new Error(`there is no ${text}`);
  change(at + text.length + offset, copy);
  return copy;
}

/** The file with a text instead of another of the same length. */
function respelled(bytes: Buffer, from: string, to: string): Buffer {
  return after(bytes, from, -from.length, (at, copy) => copy.write(to, at, "latin1"));
}

test("a file cut anywhere is refused as such", async () => {
  const path = await file(whole);
  const end = Math.max(...[...readGgufHeader(path).tensors.values()].map((tensor) => tensor.end));
  for (let length = end - 1; length >= 0; length -= length > 1400 ? 97 : 1) {
    await truncate(path, length);
    expect(() => readGgufHeader(path)).toThrow(expect.objectContaining({ code: "GGUF_INVALID" }));
  }
});

test("random bytes in a header are refused, or read as another header, but never anything else", async () => {
  for (let seed = 1; seed < 400; seed++) {
    const copy = Buffer.from(whole.subarray(0, 2000));
    const at = (seed * 7919) % 1200;
    copy[at] = (copy[at]! + 1 + ((seed * 104729) % 254)) % 256;
    const path = await file(Buffer.concat([copy, whole.subarray(2000)]));
    try {
      readGgufHeader(path);
    } catch (error) {
      expect(error).toMatchObject({ code: "GGUF_INVALID" });
    }
  }
});

const entry = { dimensions: 0, row: 4, type: 20, offset: 24 }; // places in a tensor's entry after its name

test.each<[string, Buffer]>([
  ["does not begin with “GGUF”", respelled(whole, "GGUF", "GGML")],
  ["its version is 1", after(whole, "GGUF", 0, (at, copy) => copy.writeUInt32LE(1, at))],
  ["it is big-endian", after(whole, "GGUF", 0, (at, copy) => copy.writeUInt32BE(3, at))],
  [
    "is of the type 99; only F32, F16",
    after(whole, "Q4_0", entry.type, (at, copy) => copy.writeUInt32LE(99, at)),
  ],
  ["has 9 dimensions", after(whole, "Q4_0", entry.dimensions, (at, copy) => copy.writeUInt32LE(9, at))],
  [
    "needs rows of 32 values, but Q4_0 has 255",
    after(whole, "Q4_0", entry.row, (at, copy) => copy.writeUInt32LE(255, at)),
  ],
  [
    "the tensor Q4_0 ends at byte",
    after(whole, "Q4_0", entry.offset, (at, copy) => copy.writeUInt32LE(2 ** 20, at)),
  ],
  ["which can't be", after(whole, "Q4_0", entry.offset, (at, copy) => copy.writeBigUInt64LE(2n ** 60n, at))],
  [
    "overlaps the tensor before it",
    after(whole, "Q4_0", entry.offset, (at, copy) =>
      copy.writeBigUInt64LE(copy.readBigUInt64LE(at) + 32n, at),
    ),
  ],
  ["two tensors are named Q4_1", respelled(whole, "Q4_0", "Q4_1")],
  ["the unknown type 77", after(whole, "general.architecture", 0, (at, copy) => copy.writeUInt32LE(77, at))],
])("refuses a file because %s", async (reason, bytes) => {
  const path = await file(bytes);
  expect(() => readGgufHeader(path)).toThrow(reason);
});

test.each<[string, string, Buffer]>([
  ["GGUF_UNSUPPORTED", 'general.architecture is "qwenX"', respelled(model, "qwen2", "qwenX")],
  [
    "GGUF_UNSUPPORTED",
    "qwen2.block_count must be a number",
    respelled(model, "qwen2.block_count", "qwen2.block_cuont"),
  ],
  ["GGUF_UNSUPPORTED", 'tokenizer.ggml.model is "gptX"', respelled(model, "gpt2", "gptX")],
  ["GGUF_UNSUPPORTED", 'tokenizer.ggml.pre is "qwenX"', preOf("qwenX")],
  [
    "GGUF_UNSUPPORTED",
    "tokenizer.ggml.tokens is missing",
    respelled(model, "tokenizer.ggml.tokens", "tokenizer.ggml.tokenX"),
  ],
  [
    "GGUF_UNSUPPORTED",
    "tokenizer.ggml.eos_token_id is missing",
    respelled(model, "eos_token_id", "eox_token_id"),
  ],
  [
    "GGUF_UNSUPPORTED",
    "no tensor blk.0.attn_X.weight",
    respelled(model, "blk.0.attn_q.weight", "blk.0.attn_X.weight"),
  ],
  [
    "GGUF_UNSUPPORTED",
    "no tensor blk.2.attn_q.weight",
    respelled(model, "blk.1.attn_q.weight", "blk.2.attn_q.weight"),
  ],
  [
    "MODEL_CONFIG_INVALID",
    "num_hidden_layers is 4000000000, but must be a whole number from 1 to 4096",
    sized("qwen2.block_count", 4e9),
  ],
  [
    "MODEL_WEIGHTS_MISMATCH",
    "model.embed_tokens.weight should be [460, 16]",
    sized("qwen2.embedding_length", 16),
  ],
])("refuses a model with %s: %s", async (code, reason, bytes) => {
  const folder = join(work, "model");
  await mkdir(folder, { recursive: true });
  const importing = importGguf(await file(bytes), folder);
  await expect(importing).rejects.toMatchObject({ code, message: expect.stringContaining(reason) });
});

function preOf(name: string): Buffer {
  return after(model, "tokenizer.ggml.pre", 12, (at, copy) => copy.write(name, at));
}

function sized(key: string, value: number): Buffer {
  return after(model, key, 4, (at, copy) => copy.writeUInt32LE(value, at));
}

test("a file that is cut while it is read is refused", async () => {
  const path = join(work, "shrinking.gguf");
  await cp(join(fixtures, "quantized.gguf"), path);
  const { tensors } = readGgufHeader(path);
  await truncate(path, whole.length - 100);
  await expect(readGgufTensors(path, tensors.values())).rejects.toThrow(
    "it was cut while the tensor Q6_K was read",
  );
});
