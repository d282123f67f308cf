import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** What a process with piped output says first. Throws if it ends without a word. */
export async function firstOutput(child: ChildProcess): Promise<string> {
  const ended = once(child, "exit").then(([code, signal]) => {
    throw new Error(`the process ended without a word (${signal ?? code})`);
  });
  const [said] = await Promise.race([once(child.stdout!, "data"), ended]);
  return String(said);
}
