import type { Command } from "commander";
import { untilAborted } from "../../../base/async/abort-signals.ts";
import type { SupervisedRun } from "../../../control/supervision/supervised-run.ts";
import { withSupervisedRun } from "../../../control/supervision/with-supervised-run.ts";
import { runReference } from "../../../run/folder/run-reference.ts";
import { interruptible } from "../terminal/interruptible.ts";

/** `everturn dev <run>`: keeps a run's Temporal server, UI and workers running until Ctrl-C. */
export function registerDev(program: Command): void {
  program
    .command("dev")
    .description("start a run's Temporal server, UI and workers, to inspect or debug its trajectories")
    .argument("<run>", "id of the run, or path of its folder")
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--temporal <path>", "Temporal CLI that starts the dev server")
    .action(async (named: string, { temporal, ...options }: { runs: string; temporal?: string }) => {
      const { runs, run } = runReference(named, options.runs);
      const note = (text: string) => void process.stderr.write(`${text}\n`);
      await interruptible((signal) =>
        withSupervisedRun({ runs, run, temporal, note, signal }, (supervised) => {
          process.stdout.write(`${hints(supervised)}\nCtrl-C ends it\n`);
          return untilAborted(supervised.closing);
        }),
      );
    });
}

function hints({ address, ui, namespace }: SupervisedRun): string {
  if (ui === undefined) return `Temporal at ${address}, namespace ${namespace}`;
  return `Temporal at ${address}, UI at ${ui}\nlist: ${ui}/namespaces/${namespace}/workflows`;
}
