import type { Command } from "commander";
import { type LiveOptions, liveCommand, order } from "../live-trajectory.ts";

interface Options extends LiveOptions {
  call?: string;
  reason: string;
}

/** `everturn trajectory deny <trajectory>`: a call that waits is not made; the model observes the reason. */
export function registerDeny(parent: Command): void {
  liveCommand(parent, "deny", "do not make a tool call that waits for approval")
    .requiredOption("--reason <text>", "why: what the model observes in place of the tool's answer")
    .option("--call <turn/call>", "which, such as 2/0; may be left out if one waits")
    .action((trajectory: string, options: Options) => {
      const { call, reason } = options;
      return order(trajectory, options, "deny", { reason, ...(call === undefined ? {} : { call }) });
    });
}
