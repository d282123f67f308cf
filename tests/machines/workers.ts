import { setTimeout as sleep } from "node:timers/promises";
import type { Machine } from "./machine.ts";

/** The roles of workers. */
export const roles = ["orchestration", "policy", "tools", "trainer"] as const;

/** Workers of each role on each machine. */
const each = 2;

/**
 * Keeps workers of every role on every machine, as a machine's service manager does: one that ends is followed by
 * another, after `pause()` ms. Resolves once `ended` aborts and all have ended.
 */
export async function keepWorkers(options: {
  machines: readonly Machine[];
  run: string;
  ended: AbortSignal;
  pause: () => number;
}): Promise<void> {
  const { machines, run, ended, pause } = options;

  async function keep(machine: Machine, role: string): Promise<void> {
    while (!ended.aborted) {
      const worker = machine.start(["worker", "--role", role, "--run", run], `${role}.log`);
      ended.addEventListener("abort", worker.terminate);
      if (ended.aborted) worker.terminate();
      await worker.ended;
      ended.removeEventListener("abort", worker.terminate);
      if (!ended.aborted) await sleep(pause());
    }
  }

  const places = machines.flatMap((machine) => roles.map((role) => ({ machine, role })));
  const all = places.flatMap((place) => Array<typeof place>(each).fill(place));
  await Promise.all(all.map(({ machine, role }) => keep(machine, role)));
}
