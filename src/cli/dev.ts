import { resolve } from "node:path";
import type { Command } from "commander";
import { openSession } from "../temporal/session.ts";
import { interruption } from "./interruption.ts";

/** `everturn dev <run>`: a run's Temporal server, UI and workers, until Ctrl-C. */
export function registerDev(program: Command): void {
  program
    .command("dev")
    .description(
      "bring up a run's Temporal server, UI and workers, to look at its trajectories or to work on it",
    )
    .argument("<run>", "the run's id")
    .option("--runs <folder>", "where runs are kept", "runs")
    .option("--temporal <path>", "Temporal CLI to start the dev server with")
    .action(async (run: string, options: { runs: string; temporal?: string }) => {
      const interrupted = interruption();
      const session = await openSession({ runs: resolve(options.runs), run, temporal: options.temporal });
      try {
        process.stdout.write(`Temporal at ${session.address}${session.ui ? `, UI at ${session.ui}` : ""}\n`);
        process.stdout.write(`list: ${session.ui ?? ""}/namespaces/default/workflows\nCtrl-C ends it\n`);
        await Promise.race([interrupted.promise, session.failed]);
      } finally {
        await session.close();
        interrupted.release();
      }
    });
}
