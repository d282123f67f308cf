import { type Command, Option } from "commander";
import { visible } from "../../../base/processes/terminal.ts";
import { formatReward } from "../../../base/text/format.ts";
import { outcomes } from "../../../contracts/outcomes.ts";
import {
  type ExportForm,
  exportForms,
  exportLines,
} from "../../../control/operations/export-trajectories.ts";
import { listTrajectories, type TrajectoryFilter } from "../../../control/operations/list-trajectories.ts";
import { queryTrajectories } from "../../../control/operations/query-trajectories.ts";
import { type OpenRun, openRunFolder } from "../../../run/folder/open-runs.ts";
import { runReference } from "../../../run/folder/run-reference.ts";
import type { ListedTrajectory } from "../../../run/projections/listed-trajectory.ts";
import { count, decimal } from "../terminal/option-values.ts";
import { writeOut, writtenJson } from "../terminal/written-json.ts";
import { tableLines } from "../views/table.ts";

interface Options extends TrajectoryFilter {
  where?: string;
  sort?: string;
  runs: string;
  limit?: number;
  as?: ExportForm;
  skip: number;
  json: boolean;
}

/** `everturn trajectories <run>`: lists the finished trajectories of a run, filtered. It needs no server. */
export function registerTrajectories(program: Command): void {
  program
    .command("trajectories")
    .description("list the finished trajectories of a run")
    .argument("<run>", "id of the run, or path of its folder")
    .option("--stage <name>", "only this step or evaluation, for example step-0003 or evaluation-v0001")
    .option("--task <id>", "only this task, for example task-00012")
    .addOption(
      new Option("--outcome <outcome>", "only trajectories with this outcome").choices(Object.keys(outcomes)),
    )
    .option("--min-reward <number>", "only trajectories with at least this reward", decimal)
    .option("--max-reward <number>", "only trajectories with at most this reward", decimal)
    .option("--tool <name>", "only trajectories that called this tool")
    .option(
      "--where <condition>",
      "only trajectories that match this SQL condition, for example: reward < 0 and tool = 'python'",
    )
    .option("--sort <columns>", "sort by these columns, for example: reward desc, tokens")
    .addOption(
      new Option("--as <form>", "print one line of JSON per trajectory in this format, for other programs")
        .choices(exportForms)
        .conflicts("json"),
    )
    .option(
      "--limit <number>",
      "maximum number of trajectories; 0 lists all (default: 50, or all with --as)",
      count,
    )
    .option("--skip <number>", "skip this many matching trajectories", count, 0)
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--json", "print one line of JSON", false)
    .action(trajectories);
}

async function trajectories(named: string, given: Options): Promise<void> {
  const { runs, run: id } = runReference(named, given.runs);
  const run = await openRunFolder(runs, id);
  const options = { ...given, limit: given.limit ?? (given.as === undefined ? 50 : 0) };
  if (given.as !== undefined) {
    for await (const line of exportLines(run, given.as, matching(run, options)))
      await writeOut(`${JSON.stringify(line)}\n`);
    return;
  }
  if (options.where !== undefined || options.sort !== undefined) return queried(run, options);
  const rows: ListedTrajectory[] = [];
  const written = options.json ? writtenJson("trajectories") : undefined;
  let [total, shown] = [0, 0];
  for await (const row of listTrajectories(run, options)) {
    total++;
    if (total <= options.skip || (options.limit > 0 && shown === options.limit)) continue;
    shown++;
    if (written === undefined) rows.push(row);
    else await written.add([row]);
  }
  if (written === undefined) await writeOut(listing(rows, total, options.skip));
  else await written.end({ total });
}

/** Options with a limit; 0 means none. */
type Limited = Options & { limit: number };

/** The trajectories that match the options, one after the other. */
async function* matching(run: OpenRun, options: Limited): AsyncGenerator<ListedTrajectory> {
  if (options.where !== undefined || options.sort !== undefined) {
    yield* (await queryTrajectories(run, options, options)).rows;
    return;
  }
  let passed = 0;
  for await (const row of listTrajectories(run, options)) {
    passed++;
    if (passed <= options.skip) continue;
    if (options.limit > 0 && passed > options.skip + options.limit) return;
    yield row;
  }
}

/** Prints the trajectories that match a condition, selected and sorted by DuckDB. */
async function queried(run: OpenRun, options: Limited): Promise<void> {
  const { rows, total } = await queryTrajectories(run, options, options);
  if (!options.json) return writeOut(listing(rows, total, options.skip));
  const written = writtenJson("trajectories");
  await written.add(rows);
  await written.end({ total });
}

function listing(rows: ListedTrajectory[], total: number, skip: number): string {
  if (total === 0) return "No finished trajectory matches.\n";
  const right = (title: string) => ({ title, align: "right" as const });
  const columns = [
    { title: "trajectory" },
    { title: "outcome" },
    ...["reward", "turns", "tool calls", "tokens", "seconds"].map(right),
  ];
  const cells = rows.map(({ id, outcome, reward, turns, toolCalls, tokens, seconds }) => [
    visible(id),
    outcome,
    formatReward(reward),
    ...[turns, toolCalls, tokens].map(String),
    seconds.toFixed(1),
  ]);
  const rest = Math.max(0, total - skip - rows.length);
  const next = `--skip ${skip + rows.length} shows the next, --limit 0 all`;
  const more = rest === 0 ? [] : [`… and ${rest} more; ${next}`];
  return `${[...tableLines(columns, cells), ...more].join("\n")}\n`;
}
