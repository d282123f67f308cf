import { existsSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryName } from "../../../../src/base/files/temporary-name.ts";
import { folderBackend } from "../../../../src/run/store/folder-backend.ts";
import { keyOf, prefixOf } from "../../../../src/run/store/key.ts";
import { openStore } from "../../../../src/run/store/open-store.ts";
import { failOnce } from "../../../support/failing-calls.ts";
import { mayMount, onReadOnlyDisk } from "../../../support/mount.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();

function fresh() {
  const root = mkdtempSync(join(folder, "store-"));
  return { root, store: openStore(folderBackend(root), () => {}) };
}

const key = keyOf<string>("steps", 1);
const leftIn = (root: string) => readdirSync(join(root, "writing"));

test.each<[string, (file: string, root: string) => void]>([
  [
    "a network file system repeats the request and finds the link there (EEXIST)",
    (file) => failOnce("linkSync", "EEXIST", ([, to]) => to === file, "afterwards"),
  ],
  [
    "the answer to the request is lost (EIO)",
    (file) => failOnce("linkSync", "EIO", ([, to]) => to === file, "afterwards"),
  ],
  ["the disk is full (ENOSPC)", (file) => failOnce("linkSync", "ENOSPC", ([, to]) => to === file)],
  ["its folder can't be flushed (EIO)", (file) => failOnce("fsyncSync", "EIO", () => existsSync(file))],
  [
    "nothing can be opened any more (EMFILE)",
    (_, root) => failOnce("openSync", "EMFILE", ([path]) => path === join(root, "steps")),
  ],
])("a record is this writer's, and nothing is left, when %s", async (_, fail) => {
  const { root, store } = fresh();
  fail(join(root, key.path), root);
  expect(await store.record(key, "mine", { flush: true })).toBe("mine");
  expect(await store.record(key, "late")).toBe("mine");
  expect(leftIn(root)).toEqual([]);
});

test.skipIf(!mayMount)(
  "a read-only store is said to be one, also where a folder would have to be made",
  async () => {
    const disk = join(folder, "disk");
    await onReadOnlyDisk(disk, async () => {
      const backend = folderBackend(join(disk, "a"));
      const expected = { code: "STORE_NOT_WRITABLE", params: { reason: "its file system is read-only" } };
      await expect(backend.put("x.json", Buffer.of(1), { flush: false })).rejects.toMatchObject(expected);
      await expect(backend.fill("v1/a.b/", async () => {})).rejects.toMatchObject(expected);
      expect(await backend.get("x.json")).toBeUndefined();
      expect(await backend.page("")).toEqual({ paths: [] });
    });
  },
);

test("a sweep deletes what dead processes were writing, and nothing of living ones", async () => {
  const { root, store } = fresh();
  await store.record(key, "here");
  const living = temporaryName(join(root, "writing", "object"));
  writeFileSync(living, "{");
  writeFileSync(living.replace(/\.\d+\.([0-9a-f]+)\.tmp$/, ".4194000.$1.tmp"), "{"); // no such process
  expect(await store.sweep(prefixOf())).toEqual({ objects: 1, trees: 0 });
  expect(leftIn(root)).toHaveLength(1);
  expect((await store.list(prefixOf())).paths).toEqual([key.path]);
});

test("an object that a listing has is read as any other, and is absent where it was removed since", async () => {
  const backend = folderBackend(mkdtempSync(join(folder, "store-")));
  const content = Buffer.from("content");
  await backend.put("a/b.bin", content, { flush: false });
  const [path = ""] = (await backend.page("a/")).paths;
  expect(await backend.get(path, { isListed: true })).toEqual(content);
  await backend.remove(path);
  expect(await backend.get(path, { isListed: true })).toBeUndefined();
  expect(await backend.get(path)).toBeUndefined();
});
