import type { Command } from "commander";
import { type LiveOptions, liveCommand, order } from "../live-trajectory.ts";

/** `everturn trajectory pause <trajectory>`: stops it before its next turn, until `resume`. */
export function registerPause(parent: Command): void {
  liveCommand(parent, "pause", "pause a live trajectory before its next turn")
    .option("--reason <text>", "reason to show to others who look at the trajectory")
    .action((trajectory: string, options: LiveOptions & { reason?: string }) =>
      order(trajectory, options, "pause", options.reason === undefined ? {} : { reason: options.reason }),
    );
}
