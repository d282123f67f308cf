import type { Findings } from "./check.ts";
import type { Kill } from "./recovery.ts";
import { kinds } from "./victims.ts";

/** The last line of `npm run chaos -- --json`. */
export interface Counts {
  kills: number;
  lostTrajectories: number;
  lostTurns: number;
  toolCallsTwice: number;
  trainedTwice: number;
  orphans: number;
  /** Trajectory-seconds of generation that had to be done again. */
  generationSecondsLost: number;
  seconds: number;
}

/** What a person reads of a chaos run: kills by kind, and what the checker found. */
export function chaosText(options: {
  kills: Kill[];
  counts: Counts;
  findings: Findings;
  different: string[];
  runs: number;
}): string {
  const { kills, counts, findings, different, runs } = options;
  const rows = [...kinds, "all" as const].map((kind) => {
    const ofKind = kills.filter((kill) => kind === "all" || kill.kind === kind);
    const times = ofKind.flatMap(({ time, recovered }) =>
      recovered === undefined ? [] : [(recovered - time) / 1000],
    );
    times.sort((a, b) => a - b);
    const cells = [kind, ofKind.length, seconds(times[Math.floor(times.length / 2)]), seconds(times.at(-1))];
    return cells
      .map((cell, index) => (index === 0 ? String(cell).padEnd(14) : String(cell).padStart(10)))
      .join("");
  });
  const { seen } = findings;
  const found: [string, string[]][] = [
    ["lost trajectories", findings.lostTrajectories],
    ["lost finished turns", findings.lostTurns],
    ["tool calls executed twice after their result was recorded", findings.toolCallsTwice],
    ["trajectories trained twice", findings.trainedTwice],
    ["orphaned processes and sandboxes", findings.orphans],
    ["trajectories and weights that differ from the run without kills", different],
  ];
  return [
    "",
    `${"killed".padEnd(14)}${"kills".padStart(10)}${"median".padStart(10)}${"slowest".padStart(10)}   time to recover`,
    ...rows,
    "",
    `${runs} run(s), ${Math.round(counts.seconds)} s: ${seen.trajectories} trajectories (${seen.leftOut} left out), ${seen.turns} turns, ${seen.calls} tool calls, ${seen.segments} segments, ${seen.workflows} workflows`,
    `${counts.generationSecondsLost.toFixed(1)} s of generation lost in all`,
    ...found.flatMap(([what, list]) => [
      `${list.length} ${what}`,
      ...list.slice(0, 10).map((one) => `  ${one}`),
    ]),
  ].join("\n");
}

function seconds(value: number | undefined): string {
  return value === undefined ? "-" : `${value.toFixed(1)} s`;
}
