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

/** How many bundles to keep, of about 2.5 MB each. The least recently used are removed. */
const capacity = 32;

/** The first line of a kept bundle's file, before the code. */
interface Header {
  /** SHA-256 of the code. */
  code: string;
  inputs: string[];
  /** The digest of its inputs. */
  state: string;
}

/** The code kept in `file`, if none of its inputs has changed. An unreadable or incomplete file counts as absent. */
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

/** Keeps a bundle in `file`, whole or not at all. If that can't be written, the bundle is rebuilt each time. */
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
    // a leftover becomes the oldest one day
  }
}

/** Removes the oldest files beyond the capacity, including leftovers of killed writers. */
function removeOldest(folder: string): void {
  const files = readdirSync(folder).map((name) => join(folder, name));
  const aged = files.map((path) => ({ path, used: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }));
  const oldest = aged.toSorted((one, other) => other.used - one.used).slice(capacity);
  for (const { path } of oldest) rmSync(path, { force: true });
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
