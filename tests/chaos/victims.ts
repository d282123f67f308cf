import { defined } from "../../src/base/records/defined.ts";
import { type MarkedProcess, markedProcesses, sandboxesOf } from "./marked-processes.ts";
import type { Scenario } from "./scenarios.ts";

/**
 * What is struck: workers by role, the tools' host, the Temporal server, the CLI alone, or the CLI and all it started; the processes of
 * plugins, and their sandboxes; a training server (tests/tinker).
 */
export const kinds = [
  "orchestration",
  "policy",
  "tools",
  "trainer",
  "tool host",
  "server",
  "cli",
  "everything",
  "plugin host",
  "sandbox",
  "training server",
] as const;

export type Kind = (typeof kinds)[number];

/** How often each comes in a round. */
const weights: Record<Kind, number> = {
  orchestration: 3,
  policy: 4,
  tools: 4,
  trainer: 3,
  "tool host": 2,
  server: 2,
  cli: 1,
  everything: 1,
  "plugin host": 2,
  sandbox: 0,
  "training server": 0,
};

/** A round of 22 strikes; more where the workflow code changes with each start of the CLI, and where tools hold sandboxes. */
export function roundOf({ upgrades, pipeline }: Scenario): Kind[] {
  const more: Partial<Record<Kind, number>> = defined({
    cli: upgrades ? 4 : undefined,
    ...(pipeline === "sandboxes" ? { "plugin host": 6, sandbox: 8 } : {}),
  });
  return kinds.flatMap((kind) => Array<Kind>(weights[kind] + (more[kind] ?? 0)).fill(kind));
}

const patterns: Record<Exclude<Kind, "everything" | "sandbox">, RegExp> = {
  orchestration: /main\.ts worker --role orchestration /,
  policy: /main\.ts worker --role policy /,
  tools: /main\.ts worker --role tools /,
  trainer: /main\.ts worker --role trainer /,
  "tool host": /tool-host\.ts /,
  server: / server start-dev /,
  cli: /main\.ts (run|resume) /,
  "plugin host": /\/host-main\.ts/,
  "training server": /-m skyrl\.tinker\.|hatchery\/serve\.py /,
};

/** The processes of a kind that are alive. */
export function victims(kind: Kind, mark: string): MarkedProcess[] {
  const all = markedProcesses(mark);
  if (kind === "sandbox") return sandboxesOf(all);
  if (kind !== "everything") return all.filter(({ command }) => patterns[kind].test(command));
  const others = [patterns["tool host"], patterns["training server"]];
  return all.filter(({ command }) => !others.some((pattern) => pattern.test(command)));
}

/** Sends a signal; false if the process had ended. */
export function send(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT", pid: number): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
