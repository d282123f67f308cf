import { randomBytes } from "node:crypto";
import { hostname } from "node:os";

const machine = hostname().replace(/[^A-Za-z0-9-]/g, "-");
const pattern = /\.([A-Za-z0-9-]+)\.(\d+)\.([0-9a-f]{12})\.tmp$/;

/** Names one attempt at writing something: its machine, process, and a random part. */
export function newAttempt(): string {
  return `${machine}.${process.pid}.${randomBytes(6).toString("hex")}`;
}

/** Where an attempt writes what will be at `path`. */
export function temporaryName(path: string, attempt = newAttempt()): string {
  return `${path}.${attempt}.tmp`;
}

/** Whose a temporary name is; undefined for one of a release before 0.3, which had no writer in it. */
export function writerOf(name: string): { attempt: string; isHere: boolean; pid: number } | undefined {
  const match = pattern.exec(name);
  if (match === null) return undefined;
  const [, host = "", pid = "", part = ""] = match;
  return { attempt: `${host}.${pid}.${part}`, isHere: host === machine, pid: Number(pid) };
}
