import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { EverturnError } from "../errors/everturn-error.ts";
import { sha256 } from "./sha256.ts";

const run = promisify(execFile);

/** How a package manager downloads a package's file into `folder`. */
export interface Download {
  readonly package: string;
  readonly sha256: string;
  readonly command: string;
  readonly arguments: (folder: string) => readonly string[];
}

/**
 * Downloads a package's file with its registry's own client, which follows the user's configuration. Passes the file
 * to `use` if it has the pinned SHA-256. Throws PACKAGE_FETCH_FAILED on any failure.
 */
export async function download(wanted: Download, use: (file: string) => Promise<void>): Promise<void> {
  const { package: name, command } = wanted;
  const folder = await mkdtemp(join(tmpdir(), "everturn-download-"));
  try {
    await run(command, [...wanted.arguments(folder)]);
    const [file] = await readdir(folder);
    if (file === undefined) throw new Error(`${command} downloaded no file`);
    const digest = await sha256(join(folder, file));
    if (digest !== wanted.sha256) throw new Error(`its SHA-256 is ${digest}, not ${wanted.sha256}`);
    await use(join(folder, file));
  } catch (cause) {
    const reason = lastWords(cause);
    throw new EverturnError("PACKAGE_FETCH_FAILED", { package: name, reason, command }, { cause });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A client's last line of output, rather than its command line. */
function lastWords(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const said = "stderr" in cause && typeof cause.stderr === "string" ? cause.stderr.trim().split("\n") : [];
  return said.findLast((line) => /error/i.test(line)) ?? cause.message;
}
