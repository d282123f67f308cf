import { appendFileSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { hashOf } from "./read-files.ts";

/** A file of the journal, as it was when it was first seen. */
export interface SeenFile {
  path: string;
  /** When it was written, milliseconds since 1970. */
  time: number;
  sha256: string;
  /** Of what it says as much as its step's file can be held against: a turn's head, an observation, how it ended. */
  says: string;
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
    const content = contentOf(file);
    const time = statSync(file, { throwIfNoEntry: false })?.ctimeMs;
    if (content === undefined || time === undefined) return; // it is in its step's file by now
    const seen = { path, time, sha256: hashOf(content), says: saying(JSON.parse(content).value) };
    files.push(seen);
    appendFileSync(log, `${JSON.stringify(seen)}\n`);
  }

  const listStages = () => listed(trajectories, false);
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
      const timeOf = (stage: string) =>
        statSync(join(trajectories, stage), { throwIfNoEntry: false })?.mtimeMs ?? 0;
      const byTime = listStages().map((stage) => ({ stage, time: timeOf(stage) }));
      byTime.sort((a, b) => b.time - a.time);
      scan(byTime.slice(0, 4).map(({ stage }) => stage));
    },
    /** Looks everywhere. */
    snapshot: () => scan(listStages()),
  };
}

function saying({ observation, outcome, head, reward }: { [name: string]: unknown }): string {
  if (outcome !== undefined) return JSON.stringify({ outcome, head, reward });
  return String(observation ?? head);
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // it was removed since it was listed
  }
}

function listed(folder: string, recursive: boolean): string[] {
  for (let tries = 0; ; tries++) {
    try {
      return readdirSync(folder, { encoding: "utf8", recursive });
    } catch {
      if (tries === 3 || !existsSync(folder)) return []; // it is not there yet
      // a folder in it was removed with its last record: once more
    }
  }
}
