import type { Command } from "commander";
import { type LiveOptions, liveCommand, order } from "../live-trajectory.ts";

interface Options extends LiveOptions {
  call?: string;
}

/** `everturn trajectory answer <trajectory> <text>`: answers a tool call that is a question. */
export function registerAnswer(parent: Command): void {
  liveCommand(parent, "answer", "answer a tool call that asks a person")
    .argument("<text>", "the answer, which the model observes")
    .option("--call <turn/call>", "which, such as 2/0; may be left out if one waits")
    .action((trajectory: string, text: string, options: Options) => {
      const { call } = options;
      return order(trajectory, options, "answer", { text, ...(call === undefined ? {} : { call }) });
    });
}
