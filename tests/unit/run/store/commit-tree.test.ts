import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { commitTree } from "../../../../src/run/store/commit-tree.ts";
import { folderBackend } from "../../../../src/run/store/folder-backend.ts";
import { treeKeyOf } from "../../../../src/run/store/key.ts";
import { openStore } from "../../../../src/run/store/open-store.ts";
import { inPart, keepPart } from "../../../../src/run/store/tree-part.ts";
import { failOnce } from "../../../support/failing-calls.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const key = treeKeyOf<{ text: string }>("steps", 1, "trained");
const whole = { key, part: "" };

function fresh() {
  const root = mkdtempSync(join(folder, "run-"));
  const store = openStore(folderBackend(root), () => {});
  const attempt = (text: string) =>
    commitTree(
      store,
      key,
      (local) => writeFile(join(local, "weights"), text),
      () => ({ text }),
    );
  const read = () => inPart(store, whole, async (local) => readFileSync(join(local, "weights"), "utf8"));
  return { root, store, attempt, read, record: join(root, `${key.tree}.json`) };
}

test("of attempts that race one wins, whole; the others are told and leave nothing", async () => {
  const { root, attempt, read } = fresh();
  const settled = await Promise.allSettled(["a", "b", "c"].map(attempt));
  const won = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value.value.text] : []));
  const lost = settled.flatMap((result) => (result.status === "rejected" ? [result.reason.code] : []));
  expect(lost).toEqual(["ATTEMPT_SUPERSEDED", "ATTEMPT_SUPERSEDED"]);
  expect([await read()]).toEqual(won);
  await expect(attempt("late")).rejects.toMatchObject({ code: "ATTEMPT_SUPERSEDED" });
  expect([await read()]).toEqual(won);
  expect(readdirSync(join(root, key.tree))).toHaveLength(1);
});

/** Parameters of a call that begin with these. */
const begin =
  (...expected: unknown[]) =>
  (parameters: unknown[]) =>
    expected.every((one, index) => one === undefined || one === parameters[index]);

test.each<[string, (file: string) => void]>([
  ["its folder can't be flushed (EIO)", (file) => failOnce("fsyncSync", "EIO", () => existsSync(file))],
  ["nothing can be opened any more (EMFILE)", (file) => failOnce("openSync", "EMFILE", begin(dirname(file)))],
  [
    "a network file system repeats the request and finds the link there (EEXIST)",
    (file) => failOnce("linkSync", "EEXIST", begin(undefined, file), "afterwards"),
  ],
  [
    "the answer to the request is lost (EIO)",
    (file) => failOnce("linkSync", "EIO", begin(undefined, file), "afterwards"),
  ],
])("a record that was linked stays committed when %s", async (_, fail) => {
  const { root, attempt, read, record } = fresh();
  fail(record);
  const { value } = await attempt("first");
  expect(value).toEqual({ text: "first" });
  expect(await read()).toBe("first");
  expect(readdirSync(join(root, key.tree)), "another attempt's files").toHaveLength(1);
});

test("a part that is kept stays in its folder, and what is not there is said by name", async () => {
  const { store, attempt } = fresh();
  const expected = { code: "FILES_GONE", params: { tree: "steps/1/trained", part: "" } };
  await expect(inPart(store, whole, async () => {})).rejects.toMatchObject(expected);
  await expect(keepPart(store, whole)).rejects.toMatchObject(expected);
  await attempt("first");
  const { folder: kept, release } = await keepPart(store, whole);
  expect(readFileSync(join(kept, "weights"), "utf8")).toBe("first");
  release();
  await store.free(key, "");
  await expect(inPart(store, whole, async () => {})).rejects.toMatchObject(expected);
});
