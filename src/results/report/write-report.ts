import { littlePatience, patiently } from "../../base/files/patiently.ts";
import { writeWhole } from "../../base/files/whole-files.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { page } from "./page.ts";
import { readReportData } from "./read-run.ts";

/** Writes `report.html` of a run, finished or not, from what is recorded of it. */
export async function writeReport(run: OpenRun): Promise<void> {
  const html = page(await readReportData(run));
  await patiently(() => writeWhole(run.folder.report, html), littlePatience);
}
