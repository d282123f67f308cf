import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Backend } from "../backend.ts";
import { inGroup, sandboxUser } from "../bubblewrap/command.ts";
import { type ControlGroup, type ControlGroups, controlGroups } from "../control-group.ts";
import { type RunningSandbox, startSandbox } from "../driver/running-sandbox.ts";
import { openSandboxSession } from "../driver/sandbox-session.ts";
import { sandboxesAhead } from "../driver/sandboxes.ts";
import { driverText, javascriptText } from "../driver/texts.ts";
import { findInterpreters, type Interpreters, onPath } from "../interpreters.ts";
import type { Language, SandboxLimits, SessionOptions } from "../sandbox.ts";
import { triedSandbox } from "../tried-sandbox.ts";
import { type Bundle, makeBundles } from "./bundle.ts";

const kind = "gvisor";
/** The MiB of a sandbox before its first program. */
const idle = 64;
/** The MiB and threads of gVisor's own processes, in addition to the programs. */
const own = { memory: 512, processes: 1024 };

/** Runs programs on a separate kernel in user space: gVisor's `runsc`, without root's rights. Linux only. */
export const gvisor: Backend = {
  kind,
  async open({ limits }) {
    const runsc = onPath("runsc");
    if (runsc === undefined)
      return { missing: "runsc is not on PATH; install gVisor (gvisor.dev/docs/user_guide/install)" };
    const found = findInterpreters();
    if ("missing" in found) return found;
    const groups = await controlGroups();
    const bundles = makeBundles(found, { driver: driverText(), javascript: javascriptText() });
    const start = async (some: SandboxLimits, options?: SessionOptions): Promise<RunningSandbox> => {
      const bundle = bundles.make(some);
      try {
        const running = await startSandbox(
          {
            kind,
            groups: groups && roomier(groups),
            filter: undefined,
            countsProcesses: true,
            command: (_, group) => sandboxCommand(runsc, found, bundle, group),
          },
          some,
          options,
        );
        const end = async () => {
          await running.end();
          bundle.remove();
        };
        return { ...running, end };
      } catch (error) {
        bundle.remove();
        throw error;
      }
    };
    const sandboxes = sandboxesAhead(kind, idle, start);
    const languages: Language[] = [
      "python",
      ...(found.node === undefined ? [] : ["javascript" as const]),
      "shell",
    ];
    return triedSandbox({
      kind,
      languages,
      boundary: boundary(groups !== undefined),
      limits,
      open: (some, options) => openSandboxSession(sandboxes, some, options),
      close: async () => {
        await sandboxes.close();
        bundles.remove();
      },
    });
  },
};

/** Adds room for gVisor, which has its own threads for each thread of a program. */
function roomier(groups: ControlGroups): ControlGroups {
  return {
    make: ({ memory, processes, ...rest }) =>
      groups.make({
        ...rest,
        memory: memory + own.memory,
        processes: 4 * processes + own.processes,
      }),
  };
}

function boundary(hasGroups: boolean): string {
  return [
    "a kernel of the sandbox's own in user space (gVisor), with the machine's /usr to read, files in memory and no network;",
    hasGroups
      ? "memory is bounded by a control group."
      : "memory in all is looked at twenty times a second, no control group.",
    "It takes a hole in gVisor's kernel, and one in the machine's behind it.",
  ].join(" ");
}

/**
 * Returns the command that starts a sandbox with the driver as its first process. It ends with the process
 * that starts it.
 */
function sandboxCommand(
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
