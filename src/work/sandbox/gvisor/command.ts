import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { inGroup, sandboxUser } from "../bubblewrap/command.ts";
import type { ControlGroup } from "../control-group.ts";
import type { Interpreters } from "../interpreters.ts";
import type { Bundle } from "./bundle.ts";

/** The command that starts a sandbox whose first process is the driver. All of it ends with whoever starts it. */
export function sandboxCommand(
  runsc: string,
  { setpriv }: Interpreters,
  { folder }: Bundle,
  group: ControlGroup | undefined,
): string[] {
  const user =
    setpriv === undefined ? [] : [`--reuid=${sandboxUser}`, `--regid=${sandboxUser}`, "--clear-groups"];
  return [
    ...inGroup(group),
    setpriv ?? "setpriv",
    ...user,
    "--pdeathsig=KILL",
    "--",
    runsc,
    "--root",
    join(folder, "state"),
    "--rootless",
    "--ignore-cgroups",
    "--network=none",
    "--oci-seccomp",
    "run",
    "--bundle",
    folder,
    `everturn-${randomBytes(6).toString("hex")}`,
  ];
}
