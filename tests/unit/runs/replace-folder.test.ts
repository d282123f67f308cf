import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newestPolicy } from "../../../src/runs/newest-policy.ts";
import { replaceFolder } from "../../../src/runs/replace-folder.ts";
import { runFolder } from "../../../src/runs/run-folder.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const runs = temporaryFolder();
const fill = (text: string) => (folder: string) => writeFile(join(folder, "weights"), text);

test("a folder is replaced whole; one that could not be filled leaves the old one as it was", async () => {
  const path = join(runs, "kept", "v0001");
  await replaceFolder(path, fill("old"));
  await replaceFolder(path, fill("new"));
  const failing = replaceFolder(path, async (folder) => {
    await fill("half")(folder);
    throw new Error("the disk is full");
  });
  await expect(failing).rejects.toThrow("the disk is full");
  expect(readFileSync(join(path, "weights"), "utf8")).toBe("new");
  expect(readdirSync(join(runs, "kept"))).toEqual(["v0001"]);
});

test("the newest policy is the highest whole version; half-written ones don't count", async () => {
  const folder = runFolder(runs, "run");
  expect(await newestPolicy(folder)).toBeUndefined();
  await replaceFolder(folder.policy(9), fill("9"));
  await replaceFolder(folder.policy(10), fill("10"));
  mkdirSync(`${folder.policy(11)}.0b5f.tmp`);
  expect(await newestPolicy(folder)).toBe(10);
});
