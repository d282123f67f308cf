import { createHash } from "node:crypto";
import { appendFileSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** A file of the journal, as it was when it was first seen. */
export interface SeenFile {
  path: string;
  /** When it was written, milliseconds since 1970. */
  time: number;
  sha256: string;
}

const isJournal = /\/turn-\d+(-call-\d+)?\.json$|\/(trajectory|left-out-\d+)\.json$/;

/** Watches a run's journal grow, and writes down each file that it has seen, for the checker. */
export function progressLog(root: string, run: string, log: string) {
  const trajectories = join(root, run, "trajectories");
  const known = new Set<string>();
  const files: SeenFile[] = [];

  function scan(stages: string[]): void {
    for (const stage of stages) {
      const names = listed(join(trajectories, stage), true);
      for (const name of names) {
        const path = join(run, "trajectories", stage, name);
        if (known.has(path) || !isJournal.test(`/${name}`)) continue;
        known.add(path);
        note(path);
      }
    }
  }

  function note(path: string): void {
    const file = join(root, path);
    const content = readFileSync(file);
    const sha256 = createHash("sha256").update(content).digest("hex");
    const seen = { path, time: statSync(file).mtimeMs, sha256 };
    files.push(seen);
    appendFileSync(log, `${JSON.stringify(seen)}\n`);
  }

  const stages = () => listed(trajectories, false);
  return {
    files,
    /** Counts what the run has got done: journal files, versions, updates, slices of the warm start. */
    reached: () => {
      const isRecord = (name: string) => /^(\d+\/)?[^/]+\.json$/.test(name);
      const others = ["steps", "warm-start"].map(
        (name) => listed(join(root, run, name), true).filter(isRecord).length,
      );
      return others.reduce((sum, count) => sum + count, files.length);
    },
    /** Looks where files are expected: in the stages begun last. */
    look: () => {
      const byTime = stages().map((stage) => ({ stage, time: statSync(join(trajectories, stage)).mtimeMs }));
      byTime.sort((a, b) => b.time - a.time);
      scan(byTime.slice(0, 4).map(({ stage }) => stage));
    },
    /** Looks everywhere. */
    snapshot: () => scan(stages()),
  };
}

function listed(folder: string, recursive: boolean): string[] {
  try {
    return readdirSync(folder, { encoding: "utf8", recursive });
  } catch {
    return []; // it is not there yet
  }
}
