import { type Command, Option } from "commander";
import { visible } from "../../../base/processes/terminal.ts";
import { outcomes } from "../../../contracts/outcomes.ts";
import {
  type ExportForm,
  exportForms,
  exportLines,
} from "../../../control/operations/export-trajectories.ts";
import {
  type ListedTrajectory,
  listTrajectories,
  type TrajectoryFilter,
} from "../../../control/operations/list-trajectories.ts";
import { queryTrajectories } from "../../../control/operations/query-trajectories.ts";
import { type OpenRun, openRun } from "../../../run/folder/open-runs.ts";
import { runReference } from "../../../run/folder/run-reference.ts";
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

/** `everturn trajectories <run>`: the finished trajectories of a run, filtered; no server is needed. */
export function registerTrajectories(program: Command): void {
  program
    .command("trajectories")
    .description("list a run's finished trajectories")
    .argument("<run>", "the run's id, or the path of its folder")
    .option("--stage <name>", "of one step or evaluation, such as step-0003 or evaluation-v0001")
    .option("--task <id>", "of one task, such as task-00012")
    .addOption(new Option("--outcome <outcome>", "that ended so").choices(Object.keys(outcomes)))
    .option("--min-reward <number>", "with at least this reward", decimal)
    .option("--max-reward <number>", "with at most this reward", decimal)
    .option("--tool <name>", "that called this tool")
    .option("--where <condition>", "that match this, in SQL: reward < 0 and tool = 'python'")
    .option("--sort <columns>", "in this order, such as: reward desc, tokens")
    .addOption(
      new Option("--as <form>", "print a line of JSON for each, for other programs")
        .choices(exportForms)
        .conflicts("json"),
    )
    .option("--limit <number>", "at most so many; 0 is all, which --as takes by default; else 50", count)
    .option("--skip <number>", "leave out the first so many that match", count, 0)
    .option("--runs <folder>", "where runs are kept", "runs")
    .option("--json", "print one line of JSON", false)
    .action(trajectories);
}

async function trajectories(named: string, given: Options): Promise<void> {
  const { runs, run: id } = runReference(named, given.runs);
  const run = await openRun(runs, id);
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

/** Options with a limit; 0 is none. */
type Limited = Options & { limit: number };

/** What the options ask for, one after the other. */
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

/** What a condition finds: in DuckDB, where it is also put in order. */
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
    ...[{ title: "trajectory" }, { title: "outcome" }],
    ...["reward", "turns", "tool calls", "tokens", "seconds"].map(right),
  ];
  const cells = rows.map(({ id, outcome, reward, turns, toolCalls, tokens, seconds }) => [
    visible(id),
    outcome,
    reward.toFixed(2),
    ...[turns, toolCalls, tokens].map(String),
    seconds.toFixed(1),
  ]);
  const rest = Math.max(0, total - skip - rows.length);
  const next = `--skip ${skip + rows.length} shows the next, --limit 0 all`;
  const more = rest === 0 ? [] : [`… and ${rest} more; ${next}`];
  return `${[...tableLines(columns, cells), ...more].join("\n")}\n`;
}
