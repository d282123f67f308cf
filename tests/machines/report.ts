import type { Findings } from "../chaos/check.ts";
import { type Strike, unrecovered } from "../chaos/recovery.ts";
import { foundText, strikesText } from "../chaos/report.ts";
import type { Outage } from "./outages.ts";

/** What came of runs on machines. */
export interface MachinesReport {
  counts: object;
  isClean: boolean;
  text: string;
}

/** The last line of `npm run machines -- --json`. Restarts of Temporal are kills of its server. */
interface Counts {
  kills: number;
  /** Processes stopped for longer than a heartbeat, and let go on. */
  stops: number;
  partitions: number;
  storeRestarts: number;
  /** Strikes and outages after which the run got no further by itself. */
  unrecovered: number;
  lostTrajectories: number;
  lostTurns: number;
  toolCallsTwice: number;
  trainedTwice: number;
  orphans: number;
  /** Trajectories and weights that are not those of the run as one command. */
  different: number;
  /** Texts of payloads that were found on Temporal's server. */
  readablePayloads: number;
}

/** Counts and text of what came of runs. */
export function reportOf(options: {
  strikes: readonly Strike[];
  outages: readonly Outage[];
  findings: Findings;
  different: string[];
  readable: string[];
  runs: number;
  seconds: number;
}): MachinesReport {
  const { strikes, outages, findings, different, readable, runs, seconds } = options;
  const { lostTrajectories, lostTurns, toolCallsTwice, unrecordedCalls, trainedTwice, orphans, seen } =
    findings;
  const outagesLike = (what: Outage["what"]) =>
    outages.filter((one) => one.what === what && one.over !== undefined).length;
  const stuck = [
    ...unrecovered([...strikes]).map(({ action, kind, run }) => `${action} ${kind} of ${run}`),
    ...outages
      .filter(({ recovered, gaveUp }) => recovered === undefined || gaveUp === true)
      .map(({ what, run }) => `${what} in ${run}`),
  ];
  const kills = strikes.filter(({ action }) => action === "kill").length;
  const temporalRestarts = outagesLike("Temporal restart");
  const counts: Counts = {
    kills: kills + temporalRestarts,
    stops: strikes.length - kills,
    partitions: outagesLike("partition"),
    storeRestarts: outagesLike("store restart"),
    unrecovered: stuck.length,
    lostTrajectories: lostTrajectories.length,
    lostTurns: lostTurns.length,
    toolCallsTwice: toolCallsTwice.length,
    trainedTwice: trainedTwice.length,
    orphans: orphans.length,
    different: different.length,
    readablePayloads: readable.length,
  };
  const found: [string, string[]][] = [
    ["strikes and outages that nobody recovered from", stuck],
    ["lost trajectories", lostTrajectories],
    ["lost finished turns", lostTurns],
    ["tool calls executed twice after their result was recorded", toolCallsTwice],
    ["tool calls that ran and left no record", unrecordedCalls],
    ["trajectories trained twice", trainedTwice],
    ["orphaned processes and sandboxes", orphans],
    ["trajectories and weights that differ from those of the run as one command", different],
    ["texts of payloads that can be read on Temporal's server", readable],
  ];
  return {
    counts,
    isClean: found.every(([, list]) => list.length === 0),
    text: [
      strikesText([...strikes]),
      "",
      ...outages.map(outageText),
      `${runs} run(s), ${Math.round(seconds)} s: ${seen.trajectories} trajectories (${seen.leftOut} left out), ${seen.turns} turns, ${seen.calls} tool calls, ${seen.workflows} workflows`,
      ...foundText(found),
    ].join("\n"),
  };
}

function outageText({ what, time, over, recovered }: Outage): string {
  if (time === undefined || over === undefined) return `${what}: it did not happen`;
  const after = recovered === undefined ? "never" : `${((recovered - over) / 1000).toFixed(1)} s`;
  return `${what} of ${((over - time) / 1000).toFixed(1)} s: progress after ${after}`;
}
