import { createHash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { openImageReader } from "../../../../src/engine/vision/preprocess/image-reader.ts";
import {
  type ImageCase,
  imageCases,
  imageFile,
  imageProcessors,
  levelDifference,
} from "../../../support/image-cases.ts";

const processorOf = (name: string) => {
  const processor = imageProcessors.get(name);
  if (processor === undefined) throw new Error(`there is no processor ${name}`);
  return processor;
};

/** The published sizes take long, so only a few images are made by them here. `npm run vision` makes all. */
const few = ["rotated.jpg", "flat.png", "gray-16.png"];
const published = ["smolvlm", "qwen3-vl"];

describe.each([...imageProcessors])("the processor %s", (name, processor) => {
  const reader = openImageReader(processor);
  const some = imageCases.cases.filter(({ image }) => !published.includes(name) || few.includes(image));

  test.each(some)("makes the pixels and tokens of $image as transformers does", async (given: ImageCase) => {
    const made = given.made[name];
    if (made === undefined) throw new Error("it has no fixture");
    const bytes = async () => imageFile(given.image);
    const { width, height, layout } = await reader.look(given.image, bytes);
    expect({ width, height }).toEqual({ width: given.width, height: given.height });
    const image = await reader.pixels(given.image, bytes);
    expect({ look: layout.tokens, pixels: image.tokens }).toEqual({
      look: made.imageTokens,
      pixels: made.imageTokens,
    });
    if (image.kind === "tiles") expect(image.tiles).toBe(made.tiles);
    else expect(image.grid).toEqual(made.grid);
    expect(levelDifference(processor, image, made)).toBeLessThan(1e-3);
    const mean = image.pixels.reduce((sum, value) => sum + value, 0) / image.pixels.length;
    expect(mean).toBeCloseTo(made.mean, 5);
  });
});

/** A PNG whose header promises a size and whose rows are all zeros, `rows` bytes of them. */
function zeros(width: number, height: number, rows: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const data = deflateSync(Buffer.alloc(rows));
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", data),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(kind: string, data: Uint8Array): Buffer {
  const out = Buffer.alloc(data.length + 12);
  out.writeUInt32BE(data.length, 0);
  out.write(kind, 4, "latin1");
  out.set(data, 8);
  out.writeUInt32BE(crc32(out.subarray(4, data.length + 8)), data.length + 8);
  return out;
}

describe("an image made to do harm", () => {
  const reader = openImageReader(processorOf("qwen2.5-vl"));
  test.each([
    ["with 3.6 billion pixels", zeros(60_000, 60_000, 2 ** 22), /has more than 67108864 pixels/],
    ["cut in its middle", imageFile("subsampled.jpg").subarray(0, 3000), /premature end/i],
    ["cut in its header", imageFile("alpha.webp").subarray(0, 20), /corrupt header/i],
    ["whose header promises more rows", zeros(300, 3000, 301 * 30), /error|not enough/i],
    ["that is a drawing with commands", Buffer.from("<svg width='10' height='10'/>"), /unsupported/i],
    ["without a byte", Buffer.alloc(0), /empty/i],
  ])("%s is refused, and the next one is read", async (_, data, reason) => {
    const name = createHash("sha256").update(data).digest("hex");
    await expect(reader.look(name, async () => data)).rejects.toThrow(reason);
    expect(await reader.look("odd.png", async () => imageFile("odd.png"))).toMatchObject({ width: 33 });
  });

  test("that is 200 times as wide as high is refused by Qwen's processor", async () => {
    const sharp = (await import("sharp")).default;
    const data = await sharp({ create: { width: 402, height: 2, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    await expect(reader.look("flat", async () => data)).rejects.toThrow("no side may be more than 200 times");
  });
});
