import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ResolvedTool } from "../../src/contracts/plan.ts";
import { type ToolThread, toolThread } from "../../src/work/tools/tool-thread.ts";

/** Of all test files of this process; it goes with the folder that all tests have. */
const folder = mkdtempSync(join(tmpdir(), "everturn-plugins-"));
let written = 0;

/** Writes a module whose default export is `source`; returns its path. */
export function writePlugin(source: string): string {
  const file = join(folder, `plugin-${++written}.ts`);
  writeFileSync(file, `export default ${source};\n`);
  return file;
}

/** The thread of a tool whose default export is `source`, until the test ends. */
export async function threadOf(
  source: string,
  resolved: ResolvedTool,
  log: (text: string) => void = () => {},
): Promise<ToolThread> {
  const name = resolved.manifest.tool?.name ?? resolved.name;
  const thread = await toolThread({ ...resolved, entry: writePlugin(source) }, name, log);
  onTestFinished(thread.close);
  return thread;
}
