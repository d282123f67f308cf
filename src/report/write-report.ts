import { writeWhole } from "../files/whole-files.ts";
import type { RunFolder } from "../runs/run-folder.ts";
import { page } from "./page.ts";
import { readReportData } from "./read-run.ts";

/** Writes `report.html` of a run, finished or not, from the files of its folder. Throws RUN_NOT_FOUND. */
export async function writeReport(folder: RunFolder): Promise<void> {
  await writeWhole(folder.report, page(await readReportData(folder)));
}
