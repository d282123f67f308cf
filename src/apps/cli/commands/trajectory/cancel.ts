import type { Command } from "commander";
import { type LiveOptions, liveCommand, order } from "../live-trajectory.ts";

/** `everturn trajectory cancel <trajectory>`: it ends as left out, its tools are released`. */
export function registerCancel(parent: Command): void {
  liveCommand(parent, "cancel", "end a live trajectory: it is left out and trains no step")
    .option("--reason <text>", "why; its record says it")
    .action((trajectory: string, options: LiveOptions & { reason?: string }) =>
      order(trajectory, options, "cancel", options.reason === undefined ? {} : { reason: options.reason }),
    );
}
