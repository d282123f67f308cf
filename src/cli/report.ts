import type { Command } from "commander";
import { writeReport } from "../report/write-report.ts";
import { runFolder } from "../runs/run-folder.ts";
import { runReference } from "./run-reference.ts";

/** `everturn report <run>`: writes a run's report.html, also while it works. */
export function registerReport(program: Command): void {
  program
    .command("report")
    .description("write a run's report.html")
    .argument("<run>", "the run's id, or the path of its folder")
    .option("--runs <folder>", "where runs are kept", "runs")
    .option("--json", "print one line of JSON", false)
    .action(async (named: string, options: { runs: string; json: boolean }) => {
      const { runs, run } = runReference(named, options.runs);
      const folder = runFolder(runs, run);
      await writeReport(folder);
      const { report } = folder;
      process.stdout.write(`${options.json ? JSON.stringify({ run, report }) : report}\n`);
    });
}
