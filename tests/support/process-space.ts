import { spawnSync } from "node:child_process";

/** Begins a command that runs in a process space of its own, as a container has one. */
export const inProcessSpace = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];

/** Whether this user may make such spaces. */
export const mayMakeProcessSpace: boolean = (() => {
  const [command = "", ...parameters] = inProcessSpace;
  return spawnSync(command, [...parameters, "true"]).status === 0;
})();
