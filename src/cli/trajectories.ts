import { type Command, Option } from "commander";
import { outcomes } from "../contracts/outcomes.ts";
import {
  type ListedTrajectory,
  listTrajectories,
  type TrajectoryFilter,
} from "../library/list-trajectories.ts";
import { queryTrajectories } from "../library/query-trajectories.ts";
import { type OpenRun, openRun } from "../runs/open-runs.ts";
import { runReference } from "../runs/run-reference.ts";
import { count, decimal } from "./option-values.ts";
import { visible } from "./spans.ts";
import { tableLines } from "./table.ts";
import { writeOut, writtenJson } from "./written-json.ts";

interface Options extends TrajectoryFilter {
  where?: string;
  sort?: string;
  runs: string;
  limit: number;
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
    .option("--limit <number>", "show at most so many; 0 shows all", count, 50)
    .option("--skip <number>", "leave out the first so many that match", count, 0)
    .option("--runs <folder>", "where runs are kept", "runs")
    .option("--json", "print one line of JSON", false)
    .action(trajectories);
}

async function trajectories(named: string, options: Options): Promise<void> {
  const { runs, run: id } = runReference(named, options.runs);
  const run = await openRun(runs, id);
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

/** What a condition finds: in DuckDB, where it is also put in order. */
async function queried(run: OpenRun, options: Options): Promise<void> {
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
