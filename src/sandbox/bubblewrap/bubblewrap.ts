import type { Backend } from "../backend.ts";
import { controlGroups } from "../control-group.ts";
import { type RunningSandbox, type SandboxSurroundings, startSandbox } from "../driver/running-sandbox.ts";
import { openSession } from "../driver/session.ts";
import { driverText, javascriptText } from "../driver/texts.ts";
import type { Language, SandboxLimits, SessionOptions } from "../sandbox.ts";
import { startedAhead } from "../started-ahead.ts";
import { triedSandbox } from "../tried-sandbox.ts";
import { sandboxCommand } from "./command.ts";
import { findMachine } from "./machine.ts";
import { seccompFilter } from "./seccomp.ts";

/** MiB that a sandbox takes before its first program. */
const idle = 16;

/** Programs on this machine's kernel, in namespaces of their own: bubblewrap, which Flatpak stands on. Linux only. */
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
    const ahead = startedAhead<RunningSandbox>({
      memory: idle,
      isOver: ({ channel }) => channel.child.exitCode !== null || channel.child.signalCode !== null,
      end: (one) => one.end(),
    });
    const sandboxes = {
      kind: "bubblewrap",
      start: (some: SandboxLimits, options: SessionOptions) => startSandbox(surroundings, some, options),
      ready: (some: SandboxLimits) =>
        ahead.take(JSON.stringify(some), () => startSandbox(surroundings, some)),
    };
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
      open: (some, options) => openSession(sandboxes, some, options),
      close: () => ahead.close(),
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
