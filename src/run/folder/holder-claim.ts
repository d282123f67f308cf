import { createHash } from "node:crypto";
import type { RunFolder } from "./run-folder.ts";

/** The file with which a process claims, as number `number`, to replace a dead holder's `session.json`. */
export function holderClaim({ holder }: Pick<RunFolder, "holder">, dead: object, number: number): string {
  const digest = createHash("sha256").update(JSON.stringify(dead)).digest("hex").slice(0, 12);
  return `${holder}.${digest}-${number}`;
}

/** Whether a file in a run's folder is such a claim. */
export function isHolderClaim(name: string): boolean {
  return /^session\.json\.[0-9a-f]{12}-\d+$/.test(name);
}
