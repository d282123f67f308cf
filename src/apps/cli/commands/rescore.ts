import type { Command } from "commander";
import { visible } from "../../../base/processes/terminal.ts";
import { number, percent } from "../../../base/text/format.ts";
import { type RescoredTrajectory, rescoreRun } from "../../../control/operations/rescore-run.ts";
import { wantedRewards } from "../../../control/operations/wanted-rewards.ts";
import { openRunFolder } from "../../../run/folder/open-runs.ts";
import { runReference } from "../../../run/folder/run-reference.ts";
import { collect, count } from "../terminal/option-values.ts";
import { writeOut, writtenJson } from "../terminal/written-json.ts";
import { tableLines } from "../views/table.ts";

interface Options {
  runs: string;
  reward?: string;
  pipeline?: string;
  plugins: string[];
  stage?: string;
  task?: string;
  limit: number;
  json: boolean;
}

/** `everturn rescore <run>`: rescores its trajectories and shows both scores. The run does not change. */
export function registerRescore(program: Command): void {
  program
    .command("rescore")
    .description("score a run's trajectories again and print both scores, without changing the run")
    .argument("<run>", "id of the run, or path of its folder")
    .option(
      "--reward <yaml>",
      "reward to use, as in `reward:` of a pipeline (default: the current version of the run's own reward)",
    )
    .option("--pipeline <file>", "use the reward of this pipeline")
    .option("--plugins <folder>", "also search this folder for plugins (repeatable)", collect, [])
    .option("--stage <name>", "only this step or evaluation, for example step-0003 or evaluation-v0001")
    .option("--task <id>", "only this task, for example task-00012")
    .option(
      "--limit <number>",
      "show at most this many trajectories; 0 shows all; the means always include all",
      count,
      50,
    )
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--json", "print one line of JSON with all trajectories", false)
    .action(rescore);
}

async function rescore(named: string, options: Options): Promise<void> {
  const { runs, run } = runReference(named, options.runs);
  const opened = await openRunFolder(runs, run);
  const rewards = await wantedRewards(opened, options);
  const { stage, task, limit } = options;
  const sums = { trajectories: 0, scored: 0, missing: 0, changed: 0, recorded: [0, 0], now: [0, 0] };
  const rows: RescoredTrajectory[] = [];
  const written = options.json ? writtenJson("trajectories") : undefined;
  const log = (text: string) => void process.stderr.write(`${text}\n`);
  for await (const one of rescoreRun(opened, rewards, { stage, task, log })) {
    add(sums, one);
    if (written !== undefined) await written.add([one]);
    else if (limit === 0 || rows.length < limit) rows.push(one);
  }
  if (written === undefined) await writeOut(listing(rows, sums));
  else await written.end(summaryOf(sums));
}

/** Sums over the trajectories: of rewards, and of solved ones among those with a new score. */
interface Sums {
  trajectories: number;
  scored: number;
  missing: number;
  changed: number;
  recorded: number[];
  now: number[];
}

function add(sums: Sums, { recorded, now }: RescoredTrajectory): void {
  sums.trajectories++;
  if ("missing" in now) {
    sums.missing++;
    return;
  }
  sums.scored++;
  if (isChanged(recorded, now)) sums.changed++;
  for (const [total, score] of [
    [sums.recorded, recorded],
    [sums.now, now],
  ] as const) {
    total[0] = (total[0] ?? 0) + score.reward;
    total[1] = (total[1] ?? 0) + Number(score.success);
  }
}

interface Scored {
  reward: number;
  success: boolean;
}

function isChanged(recorded: Scored, now: Scored): boolean {
  return recorded.reward !== now.reward || recorded.success !== now.success;
}

/** Means over the trajectories with a new score. */
function summaryOf({ trajectories, scored, missing, changed, recorded, now }: Sums) {
  const means = ([reward = 0, solved = 0]: number[]) =>
    scored === 0 ? null : { rewardMean: reward / scored, successRate: solved / scored };
  return { total: trajectories, missing, changed, recorded: means(recorded), now: means(now) };
}

function listing(rows: RescoredTrajectory[], sums: Sums): string {
  if (sums.trajectories === 0) return "No scored trajectory matches.\n";
  const right = (title: string) => ({ title, align: "right" as const });
  const columns = [
    { title: "trajectory" },
    { title: "outcome" },
    right("recorded"),
    right("now"),
    { title: "" },
  ];
  const cells = rows.map(({ id, outcome, recorded, now }) => [
    visible(id),
    outcome,
    scoreText(recorded),
    "missing" in now ? "missing" : scoreText(now),
    "missing" in now ? visible(now.missing) : isChanged(recorded, now) ? "differs" : "",
  ]);
  const rest = sums.trajectories - rows.length;
  const more = rest === 0 ? [] : [`… and ${rest} more; --limit 0 shows all`];
  return `${[...tableLines(columns, cells), ...more, "", ...summaryLines(sums)].join("\n")}\n`;
}

function scoreText({ reward, success }: Scored): string {
  return `${number(reward)}${success ? " solved" : ""}`;
}

function summaryLines(sums: Sums): string[] {
  const { total, missing, changed, recorded, now } = summaryOf(sums);
  const lost = missing === 0 ? "" : `, ${missing} without a score now`;
  const first = `${total} trajectories: ${changed} differ${lost}`;
  if (recorded === null || now === null) return [first];
  return [
    first,
    `mean reward: ${number(recorded.rewardMean)} recorded, ${number(now.rewardMean)} now`,
    `solved: ${percent(recorded.successRate)} recorded, ${percent(now.successRate)} now`,
  ];
}
