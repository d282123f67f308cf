import { visible } from "../../../../base/processes/terminal.ts";
import { estimateText } from "../../../../base/text/estimate.ts";
import type { JobResult, SeedMeans, StudyRow } from "../../../../results/studies/study-results.ts";
import { type Column, tableLines } from "../../views/table.ts";

/** A table for each job that trains or evaluates, and one over the seeds. */
export function resultsText(jobs: readonly JobResult[]): string {
  const parts = jobs.flatMap(({ job, rows, overSeeds = [] }) => [
    [job, ...(rows.length === 0 ? ["  nothing yet"] : table(rows, ({ run }) => run, "run"))],
    ...(overSeeds.some(({ runs }) => runs > 1)
      ? [[`${job}, mean over seeds`, ...table(overSeeds, ({ runs }) => String(runs), "runs")]]
      : []),
  ]);
  return parts.map((lines) => lines.join("\n")).join("\n\n");
}

function table<Row extends StudyRow | SeedMeans>(
  rows: readonly Row[],
  first: (row: Row) => string,
  title: string,
): string[] {
  const keys = [...new Set(rows.flatMap(({ values }) => Object.keys(values)))];
  const measures = [...new Set(rows.flatMap((row) => Object.keys(row.measures)))];
  const right = (name: string): Column => ({ title: name, align: "right" });
  const columns = [{ title }, ...keys.map(right), right("version"), ...measures.map(right)];
  const cells = rows.map((row) => [
    visible(first(row)),
    ...keys.map((key) => visible(textOf(row.values[key]))),
    String(row.policyVersion),
    ...measures.map((name) => {
      const measure = row.measures[name];
      return measure === undefined ? "–" : estimateText(name, measure);
    }),
  ]);
  return tableLines(columns, cells).map((line) => `  ${line}`);
}

function textOf(value: unknown): string {
  if (value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}
