import type { Command } from "commander";
import { visible } from "../../../base/processes/terminal.ts";
import { differenceText, estimateText, probabilityText } from "../../../base/text/estimate.ts";
import { counted } from "../../../base/text/format.ts";
import { compare, type RunComparison } from "../../../control/operations/compare.ts";
import { describedEvaluation } from "../../../control/operations/described-evaluation.ts";
import { count } from "../terminal/option-values.ts";
import { writeOut } from "../terminal/written-json.ts";
import { namedGroups } from "../views/numbers-text.ts";
import { tableLines } from "../views/table.ts";

interface Options {
  runs: string;
  limit: number;
  json: boolean;
}

/** `everturn compare <first> <second> …`: compares evaluations on the same tasks. It needs no server. */
export function registerCompare(program: Command): void {
  program
    .command("compare")
    .description(
      "compare evaluations on the same tasks: confidence intervals, a paired test, newly solved tasks",
    )
    .argument("<first>", "RUN/EVALUATION, or a run for its newest held-out evaluation")
    .argument("<second>", "RUN/EVALUATION, or a run, to compare with the first")
    .argument("[others...]", "more evaluations to compare with the first")
    .option("--limit <number>", "list at most this many tasks of each kind; 0 lists all", count, 20)
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option(
      "--json",
      "print one line of JSON with all changed tasks; a list if there are more than two evaluations",
      false,
    )
    .action(compareAll);
}

async function compareAll(
  first: string,
  second: string,
  others: readonly string[],
  { runs, limit, json }: Options,
): Promise<void> {
  const onNotice = (text: string) => void process.stderr.write(`${text}\n`);
  const comparison = await compare(first, second, { runs, onNotice });
  if (others.length === 0) {
    const text = json ? JSON.stringify(comparison) : comparisonLines(comparison, limit).join("\n");
    return writeOut(`${text}\n`);
  }
  const all = [comparison];
  for (const other of others) all.push(await compare(first, other, { runs, onNotice }));
  await writeOut(`${json ? JSON.stringify(all) : severalLines(comparison, all).join("\n")}\n`);
}

/** Several evaluations, each compared with the first. */
function severalLines({ first, measures }: RunComparison, all: readonly RunComparison[]): string[] {
  const names = Object.keys(measures);
  const right = (title: string) => ({ title, align: "right" as const });
  const columns = [
    { title: "" },
    ...["tasks", ...names, "difference", "p", "newly solved", "lost"].map(right),
  ];
  const rows = all.map(({ second, tasks, measures: own, gained, lost }) => {
    const difference = own.accuracy?.difference;
    return [
      visible(second.id),
      String(tasks),
      ...names.map((name) => (own[name] === undefined ? "–" : estimateText(name, own[name].second))),
      difference === undefined ? "–" : differenceText("accuracy", difference),
      difference === undefined ? "–" : probabilityText(difference.p),
      String(gained.length),
      String(lost.length),
    ];
  });
  const baseline = names.map((name) =>
    measures[name] === undefined ? "–" : estimateText(name, measures[name].first),
  );
  return [
    ...tableLines(columns, [[visible(first.id), String(first.tasks), ...baseline], ...rows]),
    "",
    "difference, p, newly solved and lost compare the accuracy with the first evaluation, on the shared tasks",
  ];
}

function comparisonLines(comparison: RunComparison, limit: number): string[] {
  const { first, second, tasks, gained, lost, settings } = comparison;
  return [
    `first   ${visible(describedEvaluation(first))}`,
    `second  ${visible(describedEvaluation(second))}`,
    ...(settings.length === 0 ? [] : [`different settings: ${settingsText(settings, limit)}`]),
    `compared on ${counted(tasks, "shared task")}`,
    "",
    ...measuresTable(comparison),
    "",
    tasksLine("newly solved", gained, limit),
    tasksLine("lost", lost, limit),
  ];
}

function settingsText(settings: RunComparison["settings"], limit: number): string {
  const told = limit === 0 ? settings : settings.slice(0, limit);
  const text = (value: unknown) => (value === undefined ? "off" : JSON.stringify(value));
  const lines = told.map(({ key, first, second }) => `${key} ${text(first)} → ${text(second)}`);
  const more =
    settings.length > told.length ? [`… and ${settings.length - told.length} more; --limit 0 names all`] : [];
  return visible([...lines, ...more].join(", "));
}

function measuresTable({ bySource, byTag, ...all }: RunComparison): string[] {
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
