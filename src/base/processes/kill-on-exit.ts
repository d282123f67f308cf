import type { ChildProcess } from "node:child_process";

/** Kills a child should this process end before it and without asking it to: an uncaught error, a second Ctrl-C. */
export function killOnExit(child: ChildProcess): void {
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
}
