import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readImageProcessor } from "../../../../src/engine/vision/preprocess/image-processor.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const smolvlm = {
  image_processor_type: "Idefics3ImageProcessor",
  max_image_size: { longest_edge: 512 },
  size: { longest_edge: 2048 },
  resample: 1,
};

function folderWith(files: Record<string, unknown>): string {
  const folder = temporaryFolder();
  for (const [name, json] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(json));
  return folder;
}

describe("an image processor is read from", () => {
  test("preprocessor_config.json and processor_config.json, as published", async () => {
    const folder = folderWith({
      "preprocessor_config.json": smolvlm,
      "processor_config.json": { image_seq_len: 64, processor_class: "Idefics3Processor" },
    });
    expect(await readImageProcessor(folder)).toMatchObject({
      kind: "tiles",
      filter: "lanczos",
      longestSide: 2048,
      tileSide: 512,
      tokensPerTile: 64,
      cuts: true,
    });
  });

  test("processor_config.json alone, as transformers 5 saves it", async () => {
    const image_processor = {
      image_processor_type: "Qwen2VLImageProcessorFast",
      patch_size: 16,
      max_pixels: 9,
    };
    const folder = folderWith({ "processor_config.json": { image_processor } });
    expect(await readImageProcessor(folder)).toMatchObject({
      kind: "patches",
      patch: 16,
      mostPixels: 9,
      merge: 2,
    });
  });

  test("no file of a model that reads text", async () => {
    expect(await readImageProcessor(temporaryFolder())).toBeUndefined();
  });
});

test.each([
  [{ image_processor_type: "CLIPImageProcessor" }, 'image_processor_type is "CLIPImageProcessor"'],
  [{ ...smolvlm, do_normalize: false }, "do_normalize is false"],
  [{ ...smolvlm, resample: 0 }, "resample is 0"],
  [{ ...smolvlm, image_mean: [1] }, "image_mean must have three numbers"],
  [{ ...smolvlm, size: { longest_edge: -1 } }, "size.longest_edge must be a positive number"],
])("%j is refused", async (json, reason) => {
  await expect(readImageProcessor(folderWith({ "preprocessor_config.json": json }))).rejects.toThrow(reason);
});
