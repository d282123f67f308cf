import { readFileSync } from "node:fs";

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
