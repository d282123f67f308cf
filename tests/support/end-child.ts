import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Sends a signal to a child process unless it has ended, and waits for its end. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}
