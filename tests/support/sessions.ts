import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { namesInSync } from "../../src/base/files/names-in.ts";
import { machineFolder } from "../../src/base/processes/machine-folder.ts";
import type { RunFolder } from "../../src/run/folder/run-folder.ts";
import type { Lease } from "../../src/work/tools/leases.ts";

/** What the workers of this machine hold of a run's tools. */
export function leasesOf({ root }: Pick<RunFolder, "root">): Lease[] {
  const here = machineFolder(root);
  const files = namesInSync(here).filter((file) => /~.*~\d+\.json$/.test(file)); // records of workers and hosts are there, too
  const texts = files.map((file) => textOf(join(here, file))).filter(Boolean);
  return texts.map((text) => JSON.parse(text));
}

/** The session processes (tests/plugins/tool-session) of a run's trajectories, by id. */
export function sessionsOf(run: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const isOf = (pid: string) => textOf(`/proc/${pid}/cmdline`).includes(`session.sh\0${run}/`);
  return pids.filter(isOf).map(Number);
}

/** One line for each thing that a session's workers did: open, live or replay; with which instance or call; who. */
export function sessionLog(file: string): { what: string; name: string; pid: number }[] {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => {
    const [what = "", name = "", pid] = line.split(" ");
    return { what, name, pid: Number(pid) };
  });
}

/** How many trajectories of a stage have the first call of a turn in their journal. */
export function callsRecorded({ root }: Pick<RunFolder, "root">, stage: string, turn: number): number {
  return recordsNamed(join(root, "trajectories", stage), `turn-${turn}-call-0.json`);
}

/** How many trajectories of a stage have a turn in their journal. */
export function turnsRecorded({ root }: Pick<RunFolder, "root">, stage: string, turn: number): number {
  return recordsNamed(join(root, "trajectories", stage), `turn-${turn}.json`);
}

function recordsNamed(folder: string, ending: string): number {
  if (!existsSync(folder)) return 0;
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(ending)).length;
}

/** What a file holds; nothing if it has gone meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
