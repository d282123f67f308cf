import { createHash } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { temporaryName } from "../../base/files/temporary-name.ts";
import { stateOf } from "./bundle-inputs.ts";
import type { Bundle } from "./bundle-workflows.ts";

/** How many bundles are kept, of some 2.5 MB each. Those that nobody used for the longest time go. */
const capacity = 32;

/** What stands before the code in a kept bundle's file, in a line. */
interface Header {
  /** SHA-256 of the code. */
  code: string;
  inputs: string[];
  /** How the inputs looked. */
  state: string;
}

/**
 * The code kept in `file`, if all that it was made from is as it was. What can't be read, or isn't whole, counts as
 * absent.
 */
export function keptBundle(file: string): string | undefined {
  try {
    const text = readFileSync(file, "utf8");
    const end = text.indexOf("\n");
    const header: Header = JSON.parse(text.slice(0, end));
    const code = text.slice(end + 1);
    if (digestOf(code) !== header.code || stateOf(header.inputs) !== header.state) return undefined;
    const now = new Date();
    utimesSync(file, now, now); // in use
    return code;
  } catch {
    return undefined;
  }
}

/** Keeps a bundle in `file`, whole or not at all. Where that can't be written, it is made anew each time. */
export function keepBundle(file: string, { code, inputs }: Bundle): void {
  const paths = [...new Set([...inputs.found, ...inputs.missed])];
  const temporary = temporaryName(file);
  try {
    const header: Header = { code: digestOf(code), inputs: paths, state: stateOf(paths) };
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(temporary, `${JSON.stringify(header)}\n${code}`);
    renameSync(temporary, file);
    removeOldest(dirname(file));
  } catch {
    // what is left of it is the oldest one day
  }
}

/** Removes what is too much, and with it what a writer that was killed has left. */
function removeOldest(folder: string): void {
  const files = readdirSync(folder).map((name) => join(folder, name));
  const aged = files.map((path) => ({ path, used: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }));
  const oldest = aged.toSorted((one, other) => other.used - one.used).slice(capacity);
  for (const { path } of oldest) rmSync(path, { force: true });
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
