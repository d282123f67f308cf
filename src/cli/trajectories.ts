import { type Command, Option } from "commander";
import type { TrajectoryRecord } from "../contracts/generated/trajectory.ts";
import { openRun } from "../runs/open-runs.ts";
import { listTrajectories, readTrajectories } from "../trajectory/trajectory-files.ts";
import { count, decimal } from "./option-values.ts";
import { runReference } from "./run-reference.ts";
import { visible } from "./spans.ts";
import { tableLines } from "./table.ts";

interface Options {
  runs: string;
  stage?: string;
  task?: string;
  outcome?: TrajectoryRecord["outcome"];
  minReward?: number;
  maxReward?: number;
  tool?: string;
  limit: number;
  json: boolean;
}

const outcomes: TrajectoryRecord["outcome"][] = ["answered", "turn-limit", "token-limit", "left-out"];

/** `everturn trajectories <run>`: the finished trajectories of a run, filtered; no server is needed. */
export function registerTrajectories(program: Command): void {
  program
    .command("trajectories")
    .description("list a run's finished trajectories")
    .argument("<run>", "the run's id, or the path of its folder")
    .option("--stage <name>", "of one step or evaluation, such as step-0003 or evaluation-v0001")
    .option("--task <id>", "of one task, such as task-00012")
    .addOption(new Option("--outcome <outcome>", "that ended so").choices(outcomes))
    .option("--min-reward <number>", "with at least this reward", decimal)
    .option("--max-reward <number>", "with at most this reward", decimal)
    .option("--tool <name>", "that called this tool")
    .option("--limit <number>", "show at most so many; 0 shows all", count, 50)
    .option("--runs <folder>", "where runs are kept", "runs")
    .option("--json", "print one line of JSON", false)
    .action(trajectories);
}

async function trajectories(named: string, options: Options): Promise<void> {
  const { runs, run } = runReference(named, options.runs);
  const { folder, store } = await openRun(runs, run);
  const names = await listTrajectories(folder, options);
  const matching = (await readTrajectories(store, names)).filter((record) => matches(record, options));
  const rows = matching.slice(0, options.limit || matching.length).map(rowOf);
  const total = matching.length;
  process.stdout.write(
    options.json ? `${JSON.stringify({ trajectories: rows, total })}\n` : listing(rows, total),
  );
}

function matches(record: TrajectoryRecord, { outcome, minReward, maxReward, tool }: Options): boolean {
  return (
    (outcome === undefined || record.outcome === outcome) &&
    (minReward === undefined || record.reward >= minReward) &&
    (maxReward === undefined || record.reward <= maxReward) &&
    (tool === undefined || record.turns.some((turn) => turn.toolCalls.some((call) => call.tool === tool)))
  );
}

function rowOf({ id, outcome, reward, success, turns, tokens, seconds }: TrajectoryRecord) {
  const toolCalls = turns.reduce((total, turn) => total + turn.toolCalls.length, 0);
  const allTokens = tokens.prompt + tokens.action + tokens.observation;
  return { id, outcome, reward, success, turns: turns.length, toolCalls, tokens: allTokens, seconds };
}

function listing(rows: ReturnType<typeof rowOf>[], total: number): string {
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
  const rest = total - rows.length;
  const more = rest === 0 ? [] : [`… and ${rest} more; --limit 0 shows all`];
  return `${[...tableLines(columns, cells), ...more].join("\n")}\n`;
}
