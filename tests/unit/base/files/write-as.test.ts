import { chmodSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeAs } from "../../../../src/base/files/write-as.ts";
import { failOnce } from "../../../support/failing-calls.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();

test("the mode of a folder that a disk does not tell at once is asked for again", () => {
  const root = mkdtempSync(join(folder, "run-"));
  chmodSync(root, 0o750);
  failOnce("statSync", "EIO", ([path]) => path === root);
  const before = process.umask();
  const undo = writeAs(root);
  expect(process.umask()).toBe(before | 0o027);
  undo();
  expect(process.umask()).toBe(before);
});

test("a folder that is not there changes no mask", () => {
  const before = process.umask();
  expect(() => writeAs(join(folder, "nothing"))).toThrow("ENOENT");
  expect(process.umask()).toBe(before);
});
