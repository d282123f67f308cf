import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

/** Writes a generated file, named from the root of the clone, if it differs; with --check, fails instead and names the script that writes it. */
export async function writeGenerated(file: string, wanted: string, script: string): Promise<void> {
  const path = join(root, file);
  if ((await readFile(path, "utf8").catch(() => "")) === wanted) return;
  if (process.argv.includes("--check")) {
    console.error(`${file} is not up to date: run \`node scripts/${script}\` and commit what it writes.`);
    process.exitCode = 1;
  } else {
    await writeFile(path, wanted);
    console.log(`written: ${file}`);
  }
}
