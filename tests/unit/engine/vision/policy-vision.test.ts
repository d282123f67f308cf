import { join } from "node:path";
import { expect, test } from "vitest";
import policy from "../../../../plugins/policy-onnx/index.ts";
import { readModelConfig } from "../../../../src/engine/models/config/model-config-file.ts";
import { openPolicyVision } from "../../../../src/engine/vision/policy-vision.ts";
import { config, readImage, root, seen } from "./small-vision.ts";

test("versions with equal vision parts share what they encoded, and others don't", async () => {
  const [folder, equal, other] = ["zero", "one", "two"].map((name) => join(root, name));
  await policy.initialize(folder!, config, 1);
  await policy.initialize(equal!, config, 1);
  await policy.initialize(other!, config, 2);
  const vision = await openPolicyVision(folder!, await readModelConfig(join(folder!, "config.json")));
  if (!vision) throw new Error("it reads images");
  const { tokens, images } = seen("odd.png");
  const place = async (version: number) => {
    const placed = await vision.place(version, tokens, images, readImage);
    placed.release();
    return placed;
  };
  await expect(place(0)).rejects.toThrow("0");
  for (const [version, path] of [folder!, equal!, other!].entries()) await vision.load(version, path);
  const [first, second, third] = [await place(0), await place(1), await place(2)];
  expect(second.embeddings).toBe(first.embeddings);
  const image = first.tokens.find((token, at) => token !== tokens[at])!;
  expect(third.tokens).toContain(image);
  expect(third.embeddings.embedding(image)).not.toEqual(first.embeddings.embedding(image));
  await vision.release(0);
  expect((await place(1)).embeddings).toBe(first.embeddings);
  await vision.release(1);
  await expect(place(1)).rejects.toThrow("1");
  await vision.load(1, equal!);
  expect((await place(1)).embeddings.embedding(image)).toEqual(first.embeddings.embedding(image));
  await vision.close();
});
