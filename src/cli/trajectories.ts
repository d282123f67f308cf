import { type Command, Option } from "commander";
import type { FinishedTrajectory } from "../contracts/folded-step.ts";
import type { TrajectoryRecord } from "../contracts/generated/trajectory.ts";
import { outcomes } from "../contracts/outcomes.ts";
import { trajectoryId } from "../contracts/trajectory-id.ts";
import { ahead } from "../promises/ahead.ts";
import { openRun } from "../runs/open-runs.ts";
import { trajectoryReader } from "../trajectory/reader.ts";
import { count, decimal } from "./option-values.ts";
import { runReference } from "./run-reference.ts";
import { visible } from "./spans.ts";
import { tableLines } from "./table.ts";
import { writeOut, writtenJson } from "./written-json.ts";

interface Options {
  runs: string;
  stage?: string;
  task?: string;
  outcome?: TrajectoryRecord["outcome"];
  minReward?: number;
  maxReward?: number;
  tool?: string;
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
    .option("--limit <number>", "show at most so many; 0 shows all", count, 50)
    .option("--skip <number>", "leave out the first so many that match", count, 0)
    .option("--runs <folder>", "where runs are kept", "runs")
    .option("--json", "print one line of JSON", false)
    .action(trajectories);
}

async function trajectories(named: string, options: Options): Promise<void> {
  const { runs, run } = runReference(named, options.runs);
  const reader = trajectoryReader(await openRun(runs, run));
  const rows: ListedRow[] = [];
  const written = options.json ? writtenJson("trajectories") : undefined;
  let [total, shown] = [0, 0];
  for await (const { items } of reader.stages(options)) {
    const finished = ahead(items, together, async (name) => ({ name, ended: await reader.finished(name) }));
    for await (const { name, ended } of finished) {
      if (ended === undefined || !matches(ended, options)) continue;
      total++;
      if (total <= options.skip || (options.limit > 0 && shown === options.limit)) continue;
      shown++;
      const row = rowOf(trajectoryId({ ...name, run }), ended);
      if (written === undefined) rows.push(row);
      else await written.add([row]);
    }
  }
  if (written === undefined) await writeOut(listing(rows, total, options.skip));
  else await written.end({ total });
}

/** Trajectories that are read at once. */
const together = 32;

function matches(
  { outcome: ended, reward, tools }: FinishedTrajectory,
  { outcome, minReward, maxReward, tool }: Options,
): boolean {
  return (
    (outcome === undefined || ended === outcome) &&
    (minReward === undefined || reward >= minReward) &&
    (maxReward === undefined || reward <= maxReward) &&
    (tool === undefined || tools.includes(tool))
  );
}

function rowOf(id: string, finished: FinishedTrajectory) {
  const { outcome, reward, success, policyVersions, toolCalls, tokens, seconds } = finished;
  const allTokens = tokens.prompt + tokens.action + tokens.observation;
  const turns = policyVersions.length;
  return { id, outcome, reward, success, turns, toolCalls, tokens: allTokens, seconds };
}

type ListedRow = ReturnType<typeof rowOf>;

function listing(rows: ListedRow[], total: number, skip: number): string {
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
