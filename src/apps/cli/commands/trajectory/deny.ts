import type { Command } from "commander";
import { defined } from "../../../../base/records/defined.ts";
import { type LiveOptions, liveCommand, order } from "../live-trajectory.ts";

interface Options extends LiveOptions {
  call?: string;
  reason: string;
}

/** `everturn trajectory deny <trajectory>`: rejects a waiting call. The model observes the reason. */
export function registerDeny(parent: Command): void {
  liveCommand(parent, "deny", "reject a waiting tool call")
    .requiredOption("--reason <text>", "reason that the model receives instead of the tool's answer")
    .option("--call <turn/call>", "the tool call, for example 2/0; optional if only one is waiting")
    .action((trajectory: string, options: Options) => {
      const { call, reason } = options;
      return order(trajectory, options, "deny", defined({ reason, call }));
    });
}
