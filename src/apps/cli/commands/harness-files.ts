import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { displayPath } from "../../../base/validation/place.ts";
import type { HarnessResults } from "../../../results/evaluations/harness-results.ts";

/** Writes results and samples under lm-evaluation-harness's file names. Returns the files. */
export async function writeHarnessFiles(
  folder: string,
  { results, samples }: HarnessResults,
): Promise<string[]> {
  const date = new Date().toISOString().slice(0, -1).replaceAll(":", "-");
  await mkdir(folder, { recursive: true });
  const files: [string, string][] = [
    [`results_${date}.json`, `${JSON.stringify(results, null, 2)}\n`],
    ...Object.entries(samples).map(([name, lines]): [string, string] => [
      `samples_${name}_${date}.jsonl`,
      lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    ]),
  ];
  for (const [name, text] of files) await writeFile(join(folder, name), text);
  return files.map(([name]) => displayPath(join(folder, name)));
}
