import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * The account whose programs run in containers that root starts. Apptainer looks its user up, so it can't be the one of
 * other sandboxes, which has no account.
 */
export const account = "nobody";

/** The id of the account. Undefined if the machine lacks it. */
export function accountId(): number | undefined {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((one) => one.startsWith(`${account}:`));
  return line === undefined ? undefined : Number(line.split(":")[2]);
}

/** Gives a folder and everything below it to a user, if there is one. */
export async function ownedBy(path: string, owner: number | undefined): Promise<void> {
  if (owner !== undefined) await run("chown", ["-R", "-h", `${owner}:${owner}`, path]);
}
