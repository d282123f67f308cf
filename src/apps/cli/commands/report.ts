import type { Command } from "commander";
import { writeReport } from "../../../results/report/write-report.ts";
import { openRunFolder } from "../../../run/folder/open-runs.ts";
import { runReference } from "../../../run/folder/run-reference.ts";

/** `everturn report <run>`: writes a run's report.html, even while it works. */
export function registerReport(program: Command): void {
  program
    .command("report")
    .description("write report.html for a run")
    .argument("<run>", "id of the run, or path of its folder")
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--json", "print one line of JSON", false)
    .action(async (named: string, options: { runs: string; json: boolean }) => {
      const { runs, run } = runReference(named, options.runs);
      const opened = await openRunFolder(runs, run);
      await writeReport(opened);
      const { report } = opened.folder;
      process.stdout.write(`${options.json ? JSON.stringify({ run, report }) : report}\n`);
    });
}
