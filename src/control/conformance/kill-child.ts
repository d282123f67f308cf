import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Kills one of Everturn's processes (SIGKILL), and waits until it has ended. */
export async function killChild(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
