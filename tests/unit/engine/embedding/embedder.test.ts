import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openEmbedder, openVectors } from "everturn/embedding";
import { expect, test } from "vitest";
import { fetchedWheel } from "../../../../src/base/files/wheel.ts";
import { miniLm } from "../../../support/mini-lm.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const fixtures = join(import.meta.dirname, "..", "..", "..", "fixtures", "embedding");
const tiny = join(fixtures, "tiny-bert");

/** The largest difference between our vectors and those that sentence-transformers 6.2 made (scripts/make-embedding-fixtures.py). */
async function difference(model: string, expected: string): Promise<number> {
  const { texts, vectors }: { texts: string[]; vectors: number[][] } = JSON.parse(
    readFileSync(join(fixtures, expected), "utf8"),
  );
  const embedder = await openEmbedder(model);
  const made = await embedder.embed(texts);
  await embedder.close();
  const theirs = vectors.flat();
  expect(made.length).toBe(theirs.length);
  return Math.max(...theirs.map((value, index) => Math.abs(value - (made[index] ?? Number.NaN))));
}

test("vectors are sentence-transformers' own: of any text, empty ones, long ones", async () => {
  expect(await difference(tiny, "tiny-bert.json")).toBeLessThan(2e-6);
});

test("an ideograph beyond U+FFFF is a word of its own, as in Python", async () => {
  const embedder = await openEmbedder(tiny);
  const vectors = await embedder.embed(["the𠀀the", "the 𠀀 the"]);
  await embedder.close();
  expect(vectors.slice(0, embedder.dimensions)).toEqual(vectors.slice(embedder.dimensions));
});

const folder = fetchedWheel(miniLm.wheel);
test.runIf(folder)("those of all-MiniLM-L6-v2, where it was fetched", async () => {
  expect(await difference(join(folder ?? "", miniLm.folder), "all-minilm-l6-v2.json")).toBeLessThan(2e-6);
});

test("the nearest vectors are found exactly, of equal ones the first", async () => {
  const path = join(temporaryFolder(), "vectors");
  const rows = Array.from({ length: 1000 }, (_, index) => [
    Math.sin(index * 7),
    Math.cos(index * 3),
    (index % 5) / 5,
  ]);
  writeFileSync(path, Float32Array.from(rows.flat()));
  const vectors = await openVectors(path, 3);
  expect(vectors.count).toBe(1000);
  for (const asked of [
    [1, 0, 0],
    [0.2, -0.5, 0.7],
    [0, 0, 1],
  ]) {
    const scored = rows.map((row, number) => ({
      number,
      score: Math.fround(row.reduce((sum, value, axis) => sum + Math.fround(value) * asked[axis]!, 0)),
    }));
    scored.sort((a, b) => b.score - a.score || a.number - b.number);
    const near = await vectors.nearest(Float32Array.from(asked), 7);
    expect(near.map(({ score }) => score.toFixed(5))).toEqual(
      scored.slice(0, 7).map(({ score }) => score.toFixed(5)),
    );
    if (asked[2] === 1) expect(near.map(({ number }) => number)).toEqual([4, 9, 14, 19, 24, 29, 34]);
  }
  expect(await vectors.nearest(Float32Array.of(1, 0, 0), 5000)).toHaveLength(1000);
  await vectors.close();
  writeFileSync(path, new Uint8Array(13));
  await expect(openVectors(path, 3)).rejects.toThrow("13 bytes");
});

test("what is wrong with a model's folder is said", async () => {
  const broken = join(temporaryFolder(), "model");
  const change = async (file: string, edit: (text: string) => string) => {
    cpSync(tiny, broken, { recursive: true });
    const path = join(broken, file);
    writeFileSync(path, edit(readFileSync(path, "utf8")));
    const opened = openEmbedder(broken);
    await expect(opened).rejects.toMatchObject({ name: "EverturnError" });
    return opened.catch((error: Error) => error.message);
  };
  expect(await change("config.json", (text) => text.replace('"bert"', '"llama"'))).toContain(
    '"llama", not "bert"',
  );
  expect(
    await change("config.json", (text) => text.replace('"hidden_size": 32', '"hidden_size": 64')),
  ).toContain("not as [97,64]");
  expect(await change("1_Pooling/config.json", (text) => text.replace("mean", "weightedmean"))).toContain(
    "pooling",
  );
  expect(await change("tokenizer.json", () => "{")).toContain("tokenizer.json is not JSON");
  expect(await change("model.safetensors", () => "short")).toContain("model.safetensors");
  rmSync(join(broken, "config.json"));
  await expect(openEmbedder(broken)).rejects.toThrow("config.json");
});
