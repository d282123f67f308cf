import { mkdtempSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderBackend } from "../../../../src/run/store/folder-backend.ts";
import { isWhole } from "../../../../src/run/store/is-whole.ts";
import { treeKeyOf } from "../../../../src/run/store/key.ts";
import { openStore } from "../../../../src/run/store/open-store.ts";
import { inPart, keepPart } from "../../../../src/run/store/tree-part.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const key = treeKeyOf<string>("steps", 1, "trained");
const names = {
  policy: ["model.safetensors", "tokenizer.json", "config.json"],
  trainer: ["optimizer.safetensors", "counters.json"],
};
const parts = Object.entries(names).flatMap(([part, files]) => files.map((name) => ({ part, name })));

/** A tree of a version's shape, each file of a mebibyte. */
async function fresh() {
  const root = mkdtempSync(join(folder, "run-"));
  const told: string[] = [];
  const store = openStore(folderBackend(root), (path, reason) => told.push(`${path}: ${reason}`));
  const write = async (local: string) => {
    for (const part of Object.keys(names)) await mkdir(join(local, part));
    for (const { part, name } of parts) await writeFile(join(local, part, name), Buffer.alloc(2 ** 20, name));
  };
  const { attempt } = await store.tree(key, write, () => "trained");
  const at = (part: string, name: string) => join(root, key.tree, attempt, part, name);
  return { root, store, told, at, attempt, write };
}

/** Flips one bit in the middle of a file; its size and its time stay. */
function flip(path: string): void {
  const { atime, mtime } = statSync(path);
  const content = readFileSync(path);
  content[2 ** 19] = (content[2 ** 19] ?? 0) ^ 1;
  writeFileSync(path, content);
  utimesSync(path, atime, mtime);
}

test.each(parts)(
  "a flipped bit in $part/$name is found before the part is worked on",
  async ({ part, name }) => {
    const { store, told, at, attempt, write } = await fresh();
    flip(at(part, name));
    let works = 0;
    const work = async () => void works++;
    const reason = `steps/1/trained/${attempt}/${part}/${name} is not what its tree's record says`;
    const expected = { code: "FILES_GONE", params: { tree: key.tree, part, reason } };
    await expect(inPart(store, { key, part }, work)).rejects.toMatchObject(expected);
    await expect(keepPart(store, { key, part })).rejects.toMatchObject(expected);
    expect(works).toBe(0);
    expect(told).toEqual([`steps/1/trained.json: ${reason}`]);
    expect(await isWhole(store, { key, part })).toBe(false);
    // What is made again stands in its place.
    await store.tree(key, write, () => "again");
    await inPart(store, { key, part }, work);
    expect(works).toBe(1);
  },
);

test("a bit that flips after a file was read is found the next time, and parts that are whole are worked on", async () => {
  const { store, at } = await fresh();
  const read = (part: string) => inPart(store, { key, part }, async () => part);
  expect([await read("policy"), await read("trainer")]).toEqual(["policy", "trainer"]);
  flip(at("trainer", "counters.json"));
  await expect(read("trainer")).rejects.toMatchObject({ code: "FILES_GONE" });
});

test("where files are only named, their sizes are enough", async () => {
  const { store, at } = await fresh();
  flip(at("policy", "config.json"));
  const named = await inPart(store, { key, part: "policy" }, async (local) => local, { isUnread: true });
  expect(join(named, "config.json")).toBe(at("policy", "config.json"));
});
