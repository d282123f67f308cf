import { createHash } from "node:crypto";
import { littlePatience, patiently } from "../../base/files/patiently.ts";
// biome-ignore lint/style/noRestrictedImports: report.html, for people
import { writeWhole } from "../../base/files/whole-files.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { type Html, html } from "./html.ts";
import { type ReportData, readReportData } from "./read-run.ts";
import { accuracyPlot } from "./sections/accuracy.ts";
import { diagnoses } from "./sections/diagnoses.ts";
import { examples } from "./sections/examples.ts";
import { header } from "./sections/header.ts";
import { headline } from "./sections/headline.ts";
import { leftOutTable } from "./sections/left-out.ts";
import { plots } from "./sections/plots.ts";
import { evaluationTable, stepTable } from "./sections/tables.ts";
import { style } from "./style.ts";

/** Writes `report.html` for a run, finished or not, from its records. */
export async function writeReport(run: OpenRun): Promise<void> {
  const document = page(await readReportData(run));
  await patiently(() => writeWhole(run.folder.report, document), littlePatience);
}

/** What the page's content security policy allows: this style, and the images inside the page. */
const policy = [
  "default-src 'none'",
  "img-src data:",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const trusted = (text: string): Html => ({ html: text });

/** The report as one HTML page that loads nothing. */
function page(data: ReportData): string {
  const { run, plan, steps, evaluations, others, comparison, images } = data;
  const accuracy = evaluations.length === 0 && steps.length === 0 ? [] : [accuracyPlot(data)];
  const commands = `npx everturn trajectories ${run} lists the trajectories, npx everturn show <trajectory> prints one.`;
  const footer = `Made from the records of the run's folder. ${commands}`;
  const main = [
    header(data),
    headline(data),
    diagnoses(data),
    ...accuracy,
    plots(data),
    examples(comparison, images),
    leftOutTable(steps),
    stepTable(steps),
    evaluationTable([...evaluations, ...others]),
  ];
  const document = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${`${plan.name}: ${run}`}</title><style>${trusted(style)}</style></head>
<body><main>${main}<footer>${footer}</footer></main></body></html>
`;
  return document.html;
}
