import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { markFolder } from "../../../../src/base/files/marked-folder.ts";
import { checkHome, settleHome } from "../../../../src/run/folder/home.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

/** A run's folder that a command has worked on, and another place. */
async function settled() {
  const base = temporaryFolder();
  const root = join(base, "runs", "run");
  mkdirSync(root, { recursive: true });
  markFolder(root);
  await settleHome(root, "run");
  return { root, elsewhere: join(base, "elsewhere") };
}

const copied = (folder: string, original: string) =>
  expect.objectContaining({ code: "RUN_COPIED", params: { run: "run", folder, original } });

describe("a copy of a run's folder", () => {
  test("is refused as long as the original is there", async () => {
    const { root, elsewhere } = await settled();
    cpSync(root, elsewhere, { recursive: true, preserveTimestamps: true });
    expect(() => checkHome(elsewhere, "run")).toThrow(copied(elsewhere, root));
    await expect(settleHome(elsewhere, "run")).rejects.toEqual(copied(elsewhere, root));
    expect(() => checkHome(root, "run")).not.toThrow();
  });

  test("takes the original's place once that is gone", async () => {
    const { root, elsewhere } = await settled();
    cpSync(root, elsewhere, { recursive: true });
    rmSync(root, { recursive: true });
    await settleHome(elsewhere, "run");
    cpSync(elsewhere, root, { recursive: true });
    expect(() => checkHome(root, "run")).toThrow(copied(root, elsewhere));
  });
});

describe("the folder itself is no copy", () => {
  test("where it was moved", async () => {
    const { root, elsewhere } = await settled();
    renameSync(root, elsewhere);
    await settleHome(elsewhere, "run");
    expect(() => checkHome(elsewhere, "run")).not.toThrow();
  });

  test("where it is reached by another path", async () => {
    const { root, elsewhere } = await settled();
    symlinkSync(root, elsewhere);
    expect(() => checkHome(elsewhere, "run")).not.toThrow();
  });

  test("where another run has taken its former place", async () => {
    const { root, elsewhere } = await settled();
    renameSync(root, elsewhere);
    mkdirSync(root);
    markFolder(root);
    expect(() => checkHome(elsewhere, "run")).not.toThrow();
  });
});
