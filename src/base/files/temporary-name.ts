import { createHash, randomUUID } from "node:crypto";
import { machine, ownIdentity, processIdentity } from "../processes/process-identity.ts";

const pattern = /\.([A-Za-z0-9-]+)\.(\d+)\.([0-9a-f]{12})\.tmp$/;
const here = shortened(machine);
const own = `${here}-${shortened(ownIdentity().started)}.${process.pid}`;

/** A name for one attempt at writing something: its machine, its process and a random part. */
export function newAttempt(): string {
  return `${own}.${randomUUID().slice(-12)}`;
}

/** The temporary file that an attempt writes before it renames it to `path`. */
export function temporaryName(path: string, attempt = newAttempt()): string {
  return `${path}.${attempt}.tmp`;
}

/**
 * The attempt that a temporary name belongs to, and whether its process still runs. `isRunning` is undefined if this
 * machine can't know, because the process is on another machine. Undefined if the name is not a temporary one.
 */
export function writerOf(name: string): { attempt: string; isRunning: boolean | undefined } | undefined {
  const match = pattern.exec(name);
  if (match === null) return undefined;
  const [, writer = "", pid = "", part = ""] = match;
  const [place, started] = writer.split("-");
  const running = processIdentity(Number(pid));
  return {
    attempt: `${writer}.${pid}.${part}`,
    isRunning: place === here ? running !== undefined && shortened(running.started) === started : undefined,
  };
}

function shortened(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
