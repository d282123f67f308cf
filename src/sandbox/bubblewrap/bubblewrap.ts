import { readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../errors/message-of.ts";
import type { Backend } from "../backend.ts";
import { limitsOf } from "../limits.ts";
import type { Language, Sandbox, SandboxLimits, SandboxSession, SessionOptions } from "../sandbox.ts";
import { startedAhead } from "../started-ahead.ts";
import { sandboxCommand } from "./command.ts";
import { controlGroups } from "./control-group.ts";
import { findMachine } from "./machine.ts";
import { type RunningSandbox, type SandboxSurroundings, startSandbox } from "./running-sandbox.ts";
import { seccompFilter } from "./seccomp.ts";
import { openSession } from "./session.ts";

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
    const texts = { driver: driverText(), javascript: text("javascript.cjs") };
    const surroundings: SandboxSurroundings = {
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
      start: (some: SandboxLimits, options: SessionOptions) => startSandbox(surroundings, some, options),
      ready: (some: SandboxLimits) =>
        ahead.take(JSON.stringify(some), () => startSandbox(surroundings, some)),
    };
    const sessions = new Set<SandboxSession>();
    const languages: Language[] = [
      "python",
      ...(machine.node === undefined ? [] : ["javascript" as const]),
      "shell",
    ];
    const sandbox: Sandbox = {
      kind: "bubblewrap",
      languages,
      boundary: boundary(filter !== undefined, groups !== undefined),
      async open(options = {}) {
        const session = await openSession(sandboxes, limitsOf(limits, options.limits), options);
        sessions.add(session);
        const close = async () => {
          sessions.delete(session);
          await session.close();
        };
        return { ...session, close };
      },
      close: async () => {
        await Promise.all([...sessions].map((session) => session.close()));
        await ahead.close();
      },
    };
    const reason = await refusal(sandbox);
    if (reason === undefined) return sandbox;
    await sandbox.close();
    return { missing: `it does not start here (${reason})` };
  },
};

/** Why no program runs in it; undefined if one does. */
async function refusal(sandbox: Sandbox): Promise<string | undefined> {
  try {
    const session = await sandbox.open();
    const { outcome, value, stderr } = await session.run({ language: "python", code: "6 * 7" });
    await session.close();
    return value === "42" ? undefined : `${outcome}: ${stderr.trim()}`;
  } catch (error) {
    return messageOf(error);
  }
}

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

function driverText(): string {
  return ["interpreter.py", "execution.py", "driver.py"].map(text).join("\n");
}

function text(name: string): string {
  return readFileSync(join(import.meta.dirname, name), "utf8");
}
