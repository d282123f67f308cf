import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderOnce } from "../../../src/files/folder-once.ts";
import { newestPolicy } from "../../../src/runs/newest-policy.ts";
import { runFolder } from "../../../src/runs/run-folder.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const runs = temporaryFolder();
const fill = (text: string) => (folder: string) => writeFile(join(folder, "weights"), text);

test("a folder appears whole, the first writer's; late ones and failing ones leave nothing", async () => {
  const path = join(runs, "kept", "v0001");
  const won = await Promise.all(["a", "b", "c"].map((text) => folderOnce(path, fill(text))));
  expect(won.filter(Boolean)).toHaveLength(1);
  const first = readFileSync(join(path, "weights"), "utf8");
  expect(first).toBe(["a", "b", "c"][won.indexOf(true)]);
  expect(await folderOnce(path, fill("late"))).toBe(false);
  const failing = folderOnce(join(runs, "kept", "v0002"), async (folder) => {
    await fill("half")(folder);
    throw new Error("the loop ended");
  });
  await expect(failing).rejects.toThrow("the loop ended");
  expect(readFileSync(join(path, "weights"), "utf8")).toBe(first);
  expect(readdirSync(join(runs, "kept"))).toEqual(["v0001"]);
});

test("the newest policy is the highest whole version; half-written ones don't count", async () => {
  const folder = runFolder(runs, "run");
  expect(await newestPolicy(folder)).toBeUndefined();
  await folderOnce(folder.policy(9), fill("9"));
  await folderOnce(folder.policy(10), fill("10"));
  mkdirSync(`${folder.policy(11)}.host.7.0123456789ab.tmp`);
  expect(await newestPolicy(folder)).toBe(10);
});
