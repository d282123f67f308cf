import { createHash, randomUUID } from "node:crypto";
import { machine, ownIdentity, processIdentity } from "../processes/process-identity.ts";

const pattern = /\.([A-Za-z0-9-]+)\.(\d+)\.([0-9a-f]{12})\.tmp$/;
const here = shortened(machine);
const own = `${here}-${shortened(ownIdentity().started)}.${process.pid}`;

/** Names one attempt at writing something: its machine, process, and a random part. */
export function newAttempt(): string {
  return `${own}.${randomUUID().slice(-12)}`;
}

/** Where an attempt writes what will be at `path`. */
export function temporaryName(path: string, attempt = newAttempt()): string {
  return `${path}.${attempt}.tmp`;
}

/**
 * Whose a temporary name is, and whether that process still runs (undefined if it can't be known here: it is another
 * machine's); undefined for a name that is no temporary one.
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
