import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { collected } from "../../../../src/base/async/collected.ts";
import { isAbsence } from "../../../../src/base/errors/system-error.ts";
import { isThere } from "../../../../src/base/files/is-there.ts";
import { wholeLines } from "../../../../src/base/files/line-file.ts";
import { foldersIn, namesIn } from "../../../../src/base/files/names-in.ts";
import { readingErrorWithin } from "../../../../src/base/files/storage-errors.ts";
import { readRecord } from "../../../../src/base/files/whole-files.ts";
import { isRun } from "../../../../src/run/folder/run-file.ts";
import { folderBackend } from "../../../../src/run/store/folder-backend.ts";
import { keyOf, prefixOf, treeKeyOf } from "../../../../src/run/store/key.ts";
import { listed } from "../../../../src/run/store/listed.ts";
import { openStore } from "../../../../src/run/store/open-store.ts";
import { inPart, keepPart } from "../../../../src/run/store/tree-part.ts";
import { recordedOnce } from "../../../../src/run/trajectory/journal.ts";
import { failOnce } from "../../../support/failing-calls.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const key = keyOf<string>("steps", 1);
const tree = treeKeyOf<string>("steps", 1, "trained");

/** What a disk, a file server and a full process say, in the system's words; all but the last have a name in libuv. */
const codes = [
  "EIO",
  "EACCES",
  "EPERM",
  "ESTALE",
  "ETIMEDOUT",
  "EAGAIN",
  "EINTR",
  "EMFILE",
  "ENFILE",
  "ENOTCONN",
  "ENODEV",
];

async function fresh() {
  const root = mkdtempSync(join(folder, "store-"));
  const told: string[] = [];
  const store = openStore(folderBackend(root), (path) => told.push(path));
  await store.record(key, "first");
  await store.tree(
    tree,
    (local) => writeFile(join(local, "weights"), "w"),
    () => "trained",
  );
  return { root, store, told, of: ([path]: unknown[]) => String(path).startsWith(root) };
}

test.each(codes)(
  "a record that a disk does not read at once (%s) is there, and is not made again",
  async (code) => {
    const { store, told, of } = await fresh();
    for (const call of ["statSync", "readFileSync"] as const) {
      failOnce(call, code, of);
      let calls = 0;
      const made = await recordedOnce(store, key, async () => `again ${++calls}`);
      expect([made, calls], call).toEqual(["first", 0]);
    }
    expect(told).toEqual([]);
  },
);

test.each(codes)(
  "what a store has is there and listed while its disk fails now and then: %s",
  async (code) => {
    const { store, told, of } = await fresh();
    failOnce("statSync", code, of);
    expect(await store.has(key)).toBe(true);
    failOnce("readdirSync", code, of);
    const paths = await collected(listed(store, prefixOf("steps")));
    expect(paths.slice(0, 2)).toEqual(["steps/1.json", "steps/1/trained.json"]);
    expect(paths).toHaveLength(3); // and the file of the tree
    failOnce("statSync", code, of);
    expect((await store.readTree(tree))?.value).toBe("trained");
    expect(told).toEqual([]);
  },
);

test("work on a tree's files is done again when the disk failed it, whatever the error says", async () => {
  const { store, told } = await fresh();
  const failures = [
    (path: string) =>
      Object.assign(new Error("EIO: i/o error, open"), { code: "EIO", syscall: "open", path }),
    () => Object.assign(new Error("EIO: i/o error, read"), { code: "EIO", syscall: "read" }),
    () => new Error("the file is not JSON", { cause: Object.assign(new Error("x"), { code: "ESTALE" }) }),
    () => new Error("it can't be opened again, for tensor a: Error: EMFILE: too many open files, open"),
    () =>
      new Error(
        "it can't be opened again: Error: Unknown system error -116: Unknown system error -116, open",
      ),
    () => new Error("Load model from /m.onnx failed:system error number 5"),
    () => new Error("SystemError : 116, pread file /weights failed: Stale file handle"),
  ];
  let works = 0;
  const read = await inPart(store, { key: tree, part: "" }, async (local) => {
    const failure = failures[works++];
    if (failure !== undefined) throw failure(join(local, "weights"));
    return readFileSync(join(local, "weights"), "utf8");
  });
  expect([read, works]).toEqual(["w", failures.length + 1]);
  expect(told).toEqual([]);
});

test.each(codes)(
  "files of a tree are written once, though the disk fails (%s) when they are flushed and read",
  async (code) => {
    const { root, store } = await fresh();
    const other = treeKeyOf<string>("steps", 2, "trained");
    const below = ([path]: unknown[]) => String(path).startsWith(join(root, "steps", "2"));
    let writes = 0;
    for (const call of ["mkdirSync", "readdir", "openSync", "open"] as const) failOnce(call, code, below);
    const write = async (local: string) => {
      writes++;
      await writeFile(join(local, "weights"), "w");
    };
    expect((await store.tree(other, write, () => "trained")).value).toBe("trained");
    expect(writes).toBe(1);
  },
);

test("what is not the disk's failure is thrown as it is, at once", async () => {
  const { store } = await fresh();
  const elsewhere = Object.assign(new Error("x"), { code: "EACCES", path: "/elsewhere/file" });
  for (const failure of [new Error("the model has no layers"), elsewhere]) {
    const reading = inPart(store, { key: tree, part: "" }, async () => {
      throw failure;
    });
    await expect(reading).rejects.toBe(failure);
  }
  expect(readingErrorWithin(new Error("connect ECONNREFUSED"), folder)).not.toMatchObject({
    code: "STORE_NOT_READABLE",
  });
});

test("a part is kept although the first look at its files failed", async () => {
  const { store, of } = await fresh();
  failOnce("statSync", "EIO", of);
  const kept = await keepPart(store, { key: tree, part: "" });
  expect(readFileSync(join(kept.folder, "weights"), "utf8")).toBe("w");
  kept.release();
});

test("only ENOENT and ENOTDIR mean that nothing is there", async () => {
  const { root } = await fresh();
  const missing = join(root, "nothing");
  const below = join(root, key.path, "below");
  for (const path of [missing, below]) {
    expect(isThere(path)).toBe(false);
    expect(await readRecord(path)).toBeUndefined();
    expect(await wholeLines(path)).toEqual([]);
    expect(await namesIn(path)).toEqual([]);
    expect(await foldersIn(path)).toEqual([]);
  }
  expect(codes.some((code) => isAbsence(Object.assign(new Error("x"), { code })))).toBe(false);
});

test.each(codes)("no look at a file takes %s for absence", async (code) => {
  const { root, of } = await fresh();
  const path = join(root, key.path);
  const failure = { code: "STORE_NOT_READABLE", params: expect.objectContaining({ file: path }) };
  failOnce("statSync", code, of);
  expect(() => isThere(path)).toThrow(expect.objectContaining(failure));
  failOnce("statSync", code, of);
  await expect(readRecord(path)).rejects.toMatchObject(failure);
  failOnce("statSync", code, of);
  await expect(wholeLines(path)).rejects.toMatchObject(failure);
  failOnce("readdir", code, of);
  await expect(namesIn(path)).rejects.toMatchObject(failure);
  failOnce("statSync", code, of);
  writeFileSync(join(root, "run.json"), "{}");
  expect(isRun(dirname(root), basename(root))).toBe(true);
});
