import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { registerExport } from "../../../../src/apps/cli/commands/export.ts";
import { registerImport } from "../../../../src/apps/cli/commands/import.ts";
import { readWeights } from "../../../../src/engine/models/weights/checkpoint.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { runCommand } from "./run-command.ts";

const policy = join(import.meta.dirname, "../../engine/sampling/fixtures/policy");
const work = temporaryFolder();

test("a policy goes out as GGUF and comes back", async () => {
  const [file, folder] = [join(work, "policy.gguf"), join(work, "back")];
  expect(await runCommand(registerExport, "export", policy, file)).toBe(`${policy} is in ${file}\n`);
  expect(await runCommand(registerImport, "import", file, folder)).toBe(`${file} is in ${folder}\n`);
  expect(await readWeights(folder)).toEqual(await readWeights(policy));
});

test("a folder takes the type that is asked for", async () => {
  const folder = join(work, "half");
  await mkdir(folder); // one that is empty is free
  await runCommand(registerExport, "export", policy, folder, "--dtype", "float16");
  expect(await readdir(folder)).toContain("model.safetensors");
  await expect(
    runCommand(registerExport, "export", policy, join(work, "x"), "--dtype", "int8"),
  ).rejects.toThrow();
});

test("nothing is overwritten, and what fails leaves nothing behind", async () => {
  const used = join(work, "used");
  await mkdir(used);
  await writeFile(join(used, "note.txt"), "keep me");
  for (const target of [used, join(used, "note.txt")]) {
    await expect(runCommand(registerImport, "import", policy, target)).rejects.toThrow("already exists");
    await expect(runCommand(registerExport, "export", policy, target)).rejects.toThrow("already exists");
  }
  await expect(
    runCommand(registerImport, "import", join(used, "note.txt"), join(work, "new")),
  ).rejects.toThrow("GGUF");
  expect(await readdir(work)).not.toContain("new");
});
