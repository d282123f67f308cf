import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Whether this machine can compile what makes a disk fail, and load it into its programs. */
export const canFailDisks: boolean =
  process.platform === "linux" && spawnSync("cc", ["--version"], { stdio: "ignore" }).status === 0;

/** The environment of programs for which calls for files below `root` fail, a share `rate` of them; what failed is noted in `work`. */
export function failingDisk(work: string, root: string, rate: number, seed: number): Record<string, string> {
  if (!canFailDisks) throw new Error("a failing disk needs Linux and a C compiler, `cc`");
  const library = join(work, "failing-disk.so");
  const source = join(import.meta.dirname, "failing-disk.c");
  const { status, stderr } = spawnSync("cc", ["-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${source} can't be compiled: ${stderr}`);
  return {
    LD_PRELOAD: library,
    FAILING_DISK_ROOT: root,
    FAILING_DISK_RATE: String(rate),
    FAILING_DISK_SEED: String(seed),
    FAILING_DISK_LOG: faultsLog(work),
  };
}

/** How many calls of each kind have failed in a chaos folder. */
export function faultsIn(work: string): Record<string, number> {
  const log = faultsLog(work);
  const counts: Record<string, number> = {};
  for (const line of existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []) {
    const [kind = ""] = line.split(" ");
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

function faultsLog(work: string): string {
  return join(work, "disk-errors.log");
}
