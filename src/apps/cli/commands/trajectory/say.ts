import { type Command, Option } from "commander";
import { type LiveOptions, liveCommand, order } from "../live-trajectory.ts";

interface Options extends LiveOptions {
  role: "user" | "system";
}

/** `everturn trajectory say <trajectory> <text>`: adds a message before the next action. */
export function registerSay(parent: Command): void {
  liveCommand(parent, "say", "add a message to a live trajectory before its next action")
    .argument("<text>", "the message")
    .addOption(new Option("--role <role>", "role of the message").choices(["user", "system"]).default("user"))
    .action((trajectory: string, text: string, options: Options) =>
      order(trajectory, options, "say", { text, role: options.role }),
    );
}
