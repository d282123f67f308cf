import type { Command } from "commander";
import type { EvaluationComparison } from "../evaluations/compare.ts";
import { compare } from "../library/compare.ts";
import { describedEvaluation } from "../library/described-evaluation.ts";
import { differenceText, estimateText, probabilityText } from "../text/estimate.ts";
import { counted } from "../text/format.ts";
import { namedGroups } from "./numbers-text.ts";
import { count } from "./option-values.ts";
import { visible } from "./spans.ts";
import { tableLines } from "./table.ts";
import { writeOut } from "./written-json.ts";

interface Options {
  runs: string;
  limit: number;
  json: boolean;
}

/** `everturn compare <first> <second>`: two evaluations on the same tasks, side by side; no server is needed. */
export function registerCompare(program: Command): void {
  program
    .command("compare")
    .description(
      "compare two evaluations on the same tasks: with intervals, a paired test, what was newly solved",
    )
    .argument("<first>", "RUN/EVALUATION, or a run: its newest held-out evaluation")
    .argument("<second>", "the same")
    .option("--limit <number>", "name at most so many tasks of each kind; 0 names all", count, 20)
    .option("--runs <folder>", "where runs are kept", "runs")
    .option("--json", "print one line of JSON, with all tasks that changed", false)
    .action(compareTwo);
}

async function compareTwo(first: string, second: string, { runs, limit, json }: Options): Promise<void> {
  const onNotice = (text: string) => void process.stderr.write(`${text}\n`);
  const comparison = await compare(first, second, { runs, onNotice });
  await writeOut(`${json ? JSON.stringify(comparison) : comparisonLines(comparison, limit).join("\n")}\n`);
}

function comparisonLines(comparison: EvaluationComparison, limit: number): string[] {
  const { first, second, tasks, gained, lost } = comparison;
  return [
    `first   ${visible(describedEvaluation(first))}`,
    `second  ${visible(describedEvaluation(second))}`,
    `compared on ${counted(tasks, "task")} that both have`,
    "",
    ...measuresTable(comparison),
    "",
    tasksLine("newly solved", gained, limit),
    tasksLine("lost", lost, limit),
  ];
}

function measuresTable({ bySource, byTag, ...all }: EvaluationComparison): string[] {
  const right = (title: string) => ({ title, align: "right" as const });
  const columns = [
    { title: "" },
    { title: "measure" },
    ...["tasks", "first", "second", "difference", "p"].map(right),
  ];
  const rows = namedGroups(all, bySource, byTag).flatMap(([title, { tasks, measures }]) =>
    Object.entries(measures).map(([name, { first, second, difference }], index) => [
      index === 0 ? title : "",
      name,
      index === 0 ? String(tasks) : "",
      estimateText(name, first),
      estimateText(name, second),
      differenceText(name, difference),
      probabilityText(difference.p),
    ]),
  );
  return tableLines(columns, rows);
}

function tasksLine(what: string, ids: readonly string[], limit: number): string {
  const named = limit === 0 ? ids : ids.slice(0, limit);
  const more =
    ids.length > named.length ? ` … and ${ids.length - named.length} more; --limit 0 names all` : "";
  return `${what}: ${ids.length}${named.length === 0 ? "" : `  ${named.join(" ")}${more}`}`;
}
