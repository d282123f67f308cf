import type { Command } from "commander";
import { type LiveOptions, liveCommand, order } from "../live-trajectory.ts";

/** `everturn trajectory cancel <trajectory>`: leaves it out and releases its tools. */
export function registerCancel(parent: Command): void {
  liveCommand(parent, "cancel", "cancel a live trajectory and exclude it from training")
    .option("--reason <text>", "reason to store in the trajectory's record")
    .action((trajectory: string, options: LiveOptions & { reason?: string }) =>
      order(trajectory, options, "cancel", options.reason === undefined ? {} : { reason: options.reason }),
    );
}
