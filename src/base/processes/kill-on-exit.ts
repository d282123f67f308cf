import type { ChildProcess } from "node:child_process";

/** Kills a child if this process ends first without stopping it, as after an uncaught error or a second Ctrl-C. */
export function killOnExit(child: ChildProcess): void {
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
}
