import type { Findings } from "./check.ts";
import { type Strike, unrecovered } from "./recovery.ts";
import { kinds } from "./victims.ts";

/** The last line of `npm run chaos -- --json`. */
export interface Counts {
  kills: number;
  /** Processes stopped for longer than a heartbeat, and let go on. */
  stops: number;
  /** Kills and stops after which the run got no further by itself. */
  unrecovered: number;
  lostTrajectories: number;
  lostTurns: number;
  toolCallsTwice: number;
  unrecordedCalls: number;
  trainedTwice: number;
  orphans: number;
  /** Trajectories and weights that are not those of a run left alone. */
  different: number;
  /** Trajectories that were left out where only the disk failed. */
  excluded: number;
  /** Calls for files of a run that a failing disk answered with an error. */
  diskErrors: number;
  /** Trajectory-seconds of generation that had to be done again. */
  generationSecondsLost: number;
  seconds: number;
}

/** What a person reads of a chaos run: strikes by kind, and what the checker found. */
export function chaosText(options: {
  strikes: Strike[];
  counts: Counts;
  findings: Findings;
  different: string[];
  runs: number;
}): string {
  const { strikes, counts, findings, different, runs } = options;
  const { seen } = findings;
  const found: [string, string[]][] = [
    ["lost trajectories", findings.lostTrajectories],
    ["lost finished turns", findings.lostTurns],
    ["tool calls executed twice after their result was recorded", findings.toolCallsTwice],
    ["tool calls that ran and left no record", findings.unrecordedCalls],
    ["trajectories trained twice", findings.trainedTwice],
    ["orphaned processes and sandboxes", findings.orphans],
    ["kills and stops that nobody recovered from", unrecovered(strikes).map(strikeText)],
    ["trajectories and weights that differ from those of a run left alone", different],
  ];
  return [
    "",
    strikesText(strikes),
    "",
    ...scenarioLines(strikes),
    "",
    `${runs} run(s), ${Math.round(counts.seconds)} s: ${seen.trajectories} trajectories (${seen.leftOut} left out), ${seen.turns} turns, ${seen.calls} tool calls, ${seen.segments} segments, ${seen.workflows} workflows`,
    `${counts.generationSecondsLost.toFixed(1)} s of generation lost in all`,
    `${counts.diskErrors} calls that a failing disk did not do, ${counts.excluded} trajectories left out for it`,
    ...foundText(found),
  ].join("\n");
}

/** How many strikes of each kind there were, and how long it took to recover from them. */
export function strikesText(strikes: Strike[]): string {
  const titles = ["struck", "kills", "median", "slowest", "stops", "median", "slowest"];
  const rows = [...kinds, "all" as const].map((kind) => {
    const ofKind = strikes.filter((strike) => kind === "all" || strike.kind === kind);
    const columns = (["kill", "stop"] as const).flatMap((action) => timesOf(ofKind, action));
    return tableLine([kind, ...columns]);
  });
  return [`${tableLine(titles)}   time to recover`, ...rows].join("\n");
}

/** How many findings of each kind there are, and the first ten. */
export function foundText(found: readonly [string, string[]][]): string[] {
  return found.flatMap(([what, list]) => [
    `${list.length} ${what}`,
    ...list.slice(0, 10).map((one) => `  ${one}`),
  ]);
}

/** How many strikes of `action` there were, and the median and slowest time to recover from them. */
function timesOf(strikes: Strike[], action: Strike["action"]): (number | string)[] {
  const of = strikes.filter((strike) => strike.action === action);
  const times = of.flatMap(({ time, recovered }) =>
    recovered === undefined ? [] : [(recovered - time) / 1000],
  );
  times.sort((a, b) => a - b);
  return [of.length, seconds(times[Math.floor(times.length / 2)]), seconds(times.at(-1))];
}

function scenarioLines(strikes: Strike[]): string[] {
  const names = [...new Set(strikes.map(({ scenario }) => scenario))];
  return names.map((name) => {
    const of = strikes.filter(({ scenario }) => scenario === name);
    const stops = of.filter(({ action }) => action === "stop").length;
    return `${name}: ${of.length - stops} kills, ${stops} stops`;
  });
}

function strikeText({ action, kind, run, time }: Strike): string {
  return `${action} ${kind} of ${run} at ${new Date(time).toISOString()}`;
}

function tableLine(cells: (string | number)[]): string {
  return cells
    .map((cell, index) => (index === 0 ? String(cell).padEnd(14) : String(cell).padStart(9)))
    .join("");
}

function seconds(value: number | undefined): string {
  return value === undefined ? "-" : `${value.toFixed(1)} s`;
}
