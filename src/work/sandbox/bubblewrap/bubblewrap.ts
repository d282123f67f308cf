import type { Backend } from "../backend.ts";
import { controlGroups } from "../control-group.ts";
import { type SandboxSurroundings, startSandbox } from "../driver/running-sandbox.ts";
import { openSandboxSession } from "../driver/sandbox-session.ts";
import { sandboxesAhead } from "../driver/sandboxes.ts";
import { driverText, javascriptText } from "../driver/texts.ts";
import type { Language } from "../sandbox.ts";
import { triedSandbox } from "../tried-sandbox.ts";
import { sandboxCommand } from "./command.ts";
import { findMachine } from "./machine.ts";
import { seccompFilter } from "./seccomp.ts";

/** The MiB of a sandbox before its first program. */
const idle = 16;

/**
 * Runs programs on this machine's kernel in separate namespaces, with bubblewrap, the basis of Flatpak. Linux
 * only.
 */
export const bubblewrap: Backend = {
  kind: "bubblewrap",
  async open({ limits }) {
    const machine = await findMachine();
    if ("missing" in machine) return machine;
    const groups = await controlGroups();
    const filter = seccompFilter(process.arch);
    const texts = { driver: driverText(), javascript: javascriptText() };
    const surroundings: SandboxSurroundings = {
      kind: "bubblewrap",
      groups,
      filter,
      command: (some, group) => sandboxCommand(machine, some, texts, filter !== undefined, group),
    };
    const sandboxes = sandboxesAhead("bubblewrap", idle, (some, options) =>
      startSandbox(surroundings, some, options),
    );
    const languages: Language[] = [
      "python",
      ...(machine.node === undefined ? [] : ["javascript" as const]),
      "shell",
    ];
    return triedSandbox({
      kind: "bubblewrap",
      languages,
      boundary: boundary(filter !== undefined, groups !== undefined),
      limits,
      open: (some, options) => openSandboxSession(sandboxes, some, options),
      close: () => sandboxes.close(),
    });
  },
};

function boundary(isFiltered: boolean, hasGroups: boolean): string {
  return [
    "namespaces of the machine's own kernel without network, with the machine's /usr to read and files in memory;",
    isFiltered
      ? "a seccomp filter refuses what programs have no need of;"
      : "no seccomp filter on this architecture;",
    hasGroups
      ? "memory is bounded by a control group."
      : "memory in all is looked at twenty times a second, no control group.",
    "A hole in the kernel is one in this sandbox.",
  ].join(" ");
}
