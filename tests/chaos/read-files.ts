import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** All files under `folder`, relative to it; none if it is not there. */
export function files(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink()) // a link shows an object
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

/** A record: its digest, and what it is of. */
export function read(file: string) {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** SHA-256 in hex. */
export function hashOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
