import type { Command } from "commander";
import { untilAborted } from "../promises/abort-signals.ts";
import { startUi } from "../ui/start-ui.ts";
import { interruptible } from "./interruptible.ts";
import { count } from "./option-values.ts";

/** `everturn ui`: the pages of a folder of runs, on this machine, until Ctrl-C. */
export function registerUi(program: Command): void {
  program
    .command("ui")
    .description("show runs, trajectories and evaluations as web pages on this machine, until Ctrl-C")
    .option("--runs <folder>", "where runs are kept", "runs")
    .option("--port <number>", "0 takes one that is free", count, 4100)
    .action(ui);
}

async function ui({ runs, port }: { runs: string; port: number }): Promise<void> {
  await interruptible(async (signal) => {
    const pages = await startUi(runs, port);
    try {
      process.stdout.write(`${pages.url}\nCtrl-C ends it\n`);
      await untilAborted(signal);
    } finally {
      await pages.close();
    }
  });
}
