import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSafetensors, writeSafetensors } from "../../../../src/engine/models/weights/safetensors.ts";

const folder = await mkdtemp(join(tmpdir(), "everturn-safetensors-"));

test("reads back what it wrote, bit by bit, and leaves no temporary file", async () => {
  const path = join(folder, "model.safetensors");
  const tensors = new Map([
    ["b", { shape: [2, 3], data: Float32Array.of(1, -0, 3.5e-42, Number.POSITIVE_INFINITY, 5, 0.1) }],
    ["a", { shape: [], data: Float32Array.of(-7) }],
    ["empty", { shape: [0, 4], data: new Float32Array(0) }],
  ]);
  await writeSafetensors(path, tensors);
  const read = await readSafetensors(path);
  expect([...read.keys()]).toEqual(["a", "b", "empty"]);
  expect(read).toEqual(tensors);
  expect(await readdir(folder)).toEqual(["model.safetensors"]);
  const bytes = await readFile(path);
  expect(bytes.readBigUInt64LE(0) % 8n).toBe(0n);
  await writeSafetensors(path, new Map([...tensors].reverse()));
  expect(await readFile(path)).toEqual(bytes);
});

test("widens F16 and BF16", async () => {
  const header = JSON.stringify({
    half: { dtype: "F16", shape: [6], data_offsets: [0, 12] },
    brain: { dtype: "BF16", shape: [2], data_offsets: [12, 16] },
  });
  const values = Uint16Array.of(0x3e00, 0x8003, 0x7bff, 0x7c00, 0, 0xc000, 0x3f80, 0xc049);
  const path = await write("half.safetensors", header, Buffer.from(values.buffer));
  const read = await readSafetensors(path);
  const half = [1.5, -3 * 2 ** -24, 65504, Number.POSITIVE_INFINITY, 0, -2];
  expect([...(read.get("half")?.data ?? [])]).toEqual(half);
  expect([...(read.get("brain")?.data ?? [])]).toEqual([1, -3.140625]);
});

test.each([
  ["shorter than the eight bytes", async () => writeBytes("short", Buffer.from("abc"))],
  ["runs past the end", async () => writeBytes("long", Buffer.from("PK\x03\x04 a zip file, say"))],
  ["its header is not JSON", async () => write("text", "no JSON here")],
  ["its header is not a JSON object", async () => write("list", "[]")],
  ["lacks a dtype", async () => write("entry", '{"w":{"dtype":"F32"}}')],
  [
    "tensor w is I8; only F32, F16, BF16",
    async () => write("type", entry("I8", [4], [0, 4]), Buffer.alloc(4)),
  ],
  ["tensor w runs past the end", async () => write("cut", entry("F32", [4], [0, 16]), Buffer.alloc(12))],
  [
    "tensor b overlaps the tensor before it",
    async () => write("overlap", entries([0, 16], [8, 24]), Buffer.alloc(24)),
  ],
  [
    "tensor b overlaps the tensor before it",
    async () => write("same", entries([0, 16], [0, 16]), Buffer.alloc(16)),
  ],
  [
    "no tensor covers the 4 bytes before tensor b",
    async () => write("gap", entries([0, 16], [20, 36]), Buffer.alloc(36)),
  ],
  [
    "no tensor covers its last 4 bytes",
    async () => write("more", entry("F32", [4], [0, 16]), Buffer.alloc(20)),
  ],
  [
    "tensor b ends before it begins",
    async () => write("backwards", entries([0, 16], [16, 12]), Buffer.alloc(16)),
  ],
  ["does not fill its 16 bytes", async () => write("shape", entry("F32", [3], [0, 16]), Buffer.alloc(16))],
])("refuses a file when %s", async (reason, make) => {
  await expect(readSafetensors(await make())).rejects.toThrow(reason);
});

test("refuses to write a tensor whose shape doesn't fit its values", async () => {
  const tensors = new Map([["w", { shape: [3], data: new Float32Array(2) }]]);
  await expect(writeSafetensors(join(folder, "x"), tensors)).rejects.toThrow("tensor w has 2 values");
});

function entries(a: number[], b: number[]): string {
  const tensor = (offsets: number[]) => ({ dtype: "F32", shape: [4], data_offsets: offsets });
  return JSON.stringify({ a: tensor(a), b: tensor(b) });
}

function entry(dtype: string, shape: number[], offsets: number[]): string {
  return JSON.stringify({ w: { dtype, shape, data_offsets: offsets } });
}

function write(name: string, header: string, data = Buffer.alloc(0)): Promise<string> {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(header)));
  return writeBytes(name, Buffer.concat([length, Buffer.from(header), data]));
}

async function writeBytes(name: string, bytes: Buffer): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}
