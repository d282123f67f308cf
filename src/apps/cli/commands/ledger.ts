import type { Command } from "commander";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { visible } from "../../../base/processes/terminal.ts";
import { formatReward } from "../../../base/text/format.ts";
import type { LedgerEntry } from "../../../contracts/ledger.ts";
import { stepStage } from "../../../contracts/stages.ts";
import { type Ledger, readLedger } from "../../../results/ledger/ledger.ts";
import { openRunFolder } from "../../../run/folder/open-runs.ts";
import { runReference } from "../../../run/folder/run-reference.ts";
import { positiveCount } from "../terminal/option-values.ts";
import { errorLine, tellError } from "../terminal/tell-error.ts";
import { writtenJson } from "../terminal/written-json.ts";
import { tableLines } from "../views/table.ts";

interface Options {
  runs: string;
  step?: number;
  json: boolean;
}

/**
 * `everturn ledger <run>`: shows the fate of each trajectory, checked against the run's files. It needs no server.
 */
export function registerLedger(program: Command): void {
  program
    .command("ledger")
    .description("show the state of each trajectory of a run and check it against the stored files")
    .argument("<run>", "id of the run, or path of its folder")
    .option("--step <number>", "only this step, with one line per trajectory", positiveCount)
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--json", "print one line of JSON with all trajectories", false)
    .action(ledger);
}

async function ledger(named: string, { step, json, ...options }: Options): Promise<void> {
  const { runs, run } = runReference(named, options.runs);
  const opened = await openRunFolder(runs, run);
  const stage = step === undefined ? undefined : stepStage(step);
  if (json) {
    const written = writtenJson("entries");
    const read = await readLedger(opened, { stage, tell: written.add });
    const broken = brokenLedger(run, read);
    await written.end(broken === undefined ? read : { ...read, ...errorLine(broken) });
    if (broken !== undefined) tellError(broken);
    return;
  }
  const shown: Shown = { entries: [], leftOut: { lines: [], count: 0 } };
  const read = await readLedger(opened, {
    stage,
    tell: (entries) => {
      if (step !== undefined) shown.entries.push(...entries);
      const leftOut = entries.filter(({ state }) => state === "left out");
      shown.leftOut.count += leftOut.length;
      shown.leftOut.lines.push(...leftOut.slice(0, longest - shown.leftOut.lines.length).map(exceptionLine));
    },
  });
  const isShown = (version: { step?: number }) => step === undefined || version.step === step;
  const servedVersions = read.servedVersions.filter(isShown);
  process.stdout.write(text({ ...read, servedVersions }, shown));
  const broken = brokenLedger(run, read);
  if (broken !== undefined) tellError(broken);
}

/** The displayed part of a ledger. */
interface Shown {
  /** The lines of the requested step. */
  entries: LedgerEntry[];
  leftOut: { lines: string[]; count: number };
}

function brokenLedger(run: string, { findings }: Ledger): EverturnError | undefined {
  if (findings.length === 0) return undefined;
  return new EverturnError("LEDGER_BROKEN", {
    run,
    count: findings.length === 1 ? "1 finding" : `${findings.length} findings`,
    findings: shortened(findings.map(({ check, subject, problem }) => `${check}: ${subject}: ${problem}`)),
  });
}

/** The most lines of one kind to show; --json has all. */
const longest = 50;

function shortened(lines: readonly string[], count = lines.length): string {
  const more = count - longest;
  return [...lines.slice(0, longest), ...(more > 0 ? [`… and ${more} more; --json shows all`] : [])].join(
    "\n",
  );
}

function text(
  { stages, servedVersions, findings, unchecked, replaced }: Ledger,
  { entries, leftOut }: Shown,
): string {
  const right = (title: string) => ({ title, align: "right" as const });
  const columns = [
    { title: "stage" },
    ...["version", "reserved", "under way", "finished", "trained", "left out"].map(right),
  ];
  const table = stages.map((stage) => [
    visible(stage.stage),
    stage.policyVersion === undefined ? "" : `v${stage.policyVersion}`,
    ...[stage.reserved, stage.underWay, stage.finished, stage.trained, stage["left out"]].map(String),
  ]);
  const holds = findings.length === 0 ? ["The ledger holds."] : [];
  const parts = [
    tableLines(columns, table),
    servedVersions.length > 0 ? ["", ...servedLines(servedVersions)] : [],
    leftOut.count > 0 ? ["", "left out:", shortened(leftOut.lines, leftOut.count)] : [],
    entries.length > 0 ? ["", ...rows(entries)] : [],
    replaced.length > 0
      ? ["", "unreadable, but rebuilt or also stored in its step's file:", shortened(replaced)]
      : [],
    unchecked.length > 0 ? ["", "not checked:", ...unchecked] : [],
    ["", ...holds],
  ];
  return `${parts.flat().join("\n").trimEnd()}\n`;
}

/** A table of the requests that made each version, for each server. */
function servedLines(versions: Ledger["servedVersions"]): string[] {
  const columns = ["version", "step", "model", "requests", "checkpoint"].map((title) => ({ title }));
  return [...new Set(versions.map(({ url }) => url))].flatMap((url) => {
    const own = versions.filter((one) => one.url === url);
    const cells = own.map(({ version, step, model, requests, checkpoint }) => [
      `v${version}`,
      step === undefined ? "warm start" : String(step),
      visible(model),
      `${requests.first} to ${requests.last}`,
      visible(checkpoint),
    ]);
    return [`trained on ${visible(url)}`, ...tableLines(columns, cells)];
  });
}

function exceptionLine({ trajectory, reason = "", step }: LedgerEntry): string {
  const by = step === undefined ? "" : ` (step ${step})`;
  return `  ${visible(trajectory)}${by}: ${visible(reason)}`;
}

function rows(entries: readonly LedgerEntry[]): string[] {
  const columns = [
    { title: "trajectory" },
    { title: "state" },
    { title: "step", align: "right" as const },
    { title: "reward", align: "right" as const },
  ];
  const cells = entries.map(({ trajectory, state, step, reward }) => [
    visible(trajectory),
    state,
    step === undefined ? "" : String(step),
    reward === undefined ? "" : formatReward(reward),
  ]);
  return tableLines(columns, cells);
}
