import type { Turn } from "../../contracts/generated/trajectory.ts";
import type { LiveStatus } from "../../contracts/orders.ts";
import type { TrajectoryProgress } from "../../contracts/trajectory.ts";
import { cut } from "./cut.ts";

/** The maximum number of bytes that Temporal shows of a workflow's details. */
const detailsLimit = 20_000;

/**
 * The conversation so far as Markdown, for the workflow's details in the UI. `current` is the turn in
 * progress.
 */
export function transcript(
  prompt: string,
  { turns, shown: { first, newest } }: Pick<TrajectoryProgress, "turns" | "shown">,
  current?: Turn,
  status?: LiveStatus,
): string {
  const kept = current === undefined ? newest : [...newest, current];
  const before = turns - kept.length;
  const left = before - first.length;
  const lines = [
    ...(status === undefined ? [] : waitLines(status)),
    `**task** ${prompt}`,
    ...first.flatMap((turn, index) => turnLines(turn, index + 1)),
    ...(left > 0 ? ["", `*${left} turns are left out here; they are in the run's folder.*`] : []),
    ...kept.flatMap((turn, index) => turnLines(turn, before + index + 1)),
  ];
  return cut(lines.join("\n"), detailsLimit);
}

/** Describes what a live trajectory waits for, and how a person answers. */
function waitLines({ state, reason, waiting }: LiveStatus): string[] {
  if (state === "running" || state === "ended") return [];
  const why = reason === undefined ? "" : `: ${reason}`;
  if (waiting.length === 0) return [`**${state}**${why}`, ""];
  const calls = waiting.flatMap(({ call, tool, arguments: given, isQuestion, whom }) => [
    `**call ${call} waits for ${isQuestion ? "an answer" : "approval"}${whom === undefined ? "" : ` of ${whom}`}**: \`${tool}\``,
    fenced(JSON.stringify(given)),
  ]);
  const orders = [
    ...(waiting.some(({ isQuestion }) => isQuestion) ? ['`answer` with `{"call": …, "text": …}`'] : []),
    ...(waiting.every(({ isQuestion }) => isQuestion) ? [] : ["`approve`"]),
  ];
  return [...calls, `send the update ${orders.join(", ")} or \`deny\` with \`{"call": …, "reason": …}\``, ""];
}

function turnLines({ action, toolCalls }: Turn, number: number): string[] {
  const calls = toolCalls.flatMap(({ tool, valid, observation }) => [
    `${valid ? "tool" : "refused call of"} \`${tool}\` answered`,
    fenced(observation),
  ]);
  return ["", `**turn ${number}**`, fenced(action), ...calls];
}

/** A code block. Its fence is longer than any fence in the text, so the text cannot close it. */
function fenced(text: string): string {
  const inside = text.match(/`+/g)?.map((ticks) => ticks.length) ?? [];
  const fence = "`".repeat(Math.max(2, ...inside) + 1);
  return `${fence}\n${text}\n${fence}`;
}
