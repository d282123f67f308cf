import type { ChildProcess } from "node:child_process";

const children = new Set<ChildProcess>();

/** Kills a child if this process ends first without stopping it, as after an uncaught error or a second Ctrl-C. */
export function killOnExit(child: ChildProcess): void {
  if (children.size === 0) process.on("exit", killAll); // one listener for all: Node warns about more than ten
  children.add(child);
  child.once("exit", () => {
    children.delete(child);
    if (children.size === 0) process.off("exit", killAll);
  });
}

function killAll(): void {
  for (const child of children) child.kill("SIGKILL");
}
