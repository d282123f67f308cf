import type { Command } from "commander";
import { defined } from "../../../../base/records/defined.ts";
import { type LiveOptions, liveCommand, order } from "../live-trajectory.ts";

interface Options extends LiveOptions {
  call?: string;
}

/** `everturn trajectory answer <trajectory> <text>`: answers a tool call that is a question. */
export function registerAnswer(parent: Command): void {
  liveCommand(parent, "answer", "answer a tool call that asks a person")
    .argument("<text>", "the answer that the model receives")
    .option("--call <turn/call>", "the tool call, for example 2/0; optional if only one is waiting")
    .action((trajectory: string, text: string, options: Options) => {
      const { call } = options;
      return order(trajectory, options, "answer", defined({ text, call }));
    });
}
