import { counted, grouped } from "../../../../base/text/format.ts";
import type { Preflight } from "../../../../plan/pipeline/check/preflight.ts";
import type { Spread, TaskSummary } from "../../../../plan/tasks/describe-tasks.ts";
import type { ExampleSummary } from "./describe-examples.ts";

/** The findings about a pipeline's tasks and examples. */
export interface Inspection {
  /** Absent if steps train on examples. */
  training?: TaskSummary;
  /** Absent if steps train on trajectories. */
  examples?: ExampleSummary;
  validation: TaskSummary;
  /** Held-out rows that are also training tasks. */
  shared: string[];
  /** The longest rows in tokens, as the policy frames them. */
  tokens: NonNullable<Preflight["counted"]>["rows"];
}

/** The most rows, sources and columns to name. */
const named = 5;

/** The most characters of a ground truth to show. */
const shown = 40;

/** The text of an inspection. */
export function inspectionText({ training, examples, validation, shared, tokens }: Inspection): string {
  const longest = (name: string) => tokens.find((one) => one.name === name)?.longest;
  const same =
    shared.length === 0
      ? "no held-out task is in the training data"
      : `${counted(shared.length, "held-out task")} also in the training data, so not held out: ${list(shared)}`;
  return [
    ...(examples ? exampleLines(examples, longest) : []),
    ...(training ? setLines("training", training, longest("dataset.train")) : []),
    ...setLines("held-out", validation, longest("dataset.validation")),
    ...(training ? [same] : []),
  ].join("\n");
}

function setLines(name: string, summary: TaskSummary, longest: number | undefined): string[] {
  const { rows, sources, agents, characters, groundTruths, columns, repeated } = summary;
  const answers = groundTruths.commonest.map(([text, count]) => `${quoted(text)} × ${grouped(count)}`);
  const pairs = (all: readonly [string, number][]) =>
    list(all.map(([of, count]) => `${of} ${grouped(count)}`));
  return [
    `${name}: ${counted(rows, "task")}`,
    `  sources   ${pairs(sources)}`,
    ...(agents.length === 0 ? [] : [`  loops     ${pairs(agents)}`]),
    `  prompts   ${spreadText(characters)}${tokensText(longest)}`,
    `  answers   ${grouped(groundTruths.different)} different; the commonest ${answers.join(", ")}`,
    ...(columns.length === 0 ? [] : [`  columns   ${pairs(columns)}`]),
    `  repeated  ${repeated.length === 0 ? "none" : `${counted(repeated.length, "row")} with the prompt of an earlier row: ${list(repeated)}`}`,
  ];
}

function exampleLines(
  { kind, rows, heldOut, prompts, answers, rejected, sampled, repeated }: ExampleSummary,
  longest: (name: string) => number | undefined,
): string[] {
  const name = kind === "pair" ? "dpo.preferences" : "sft.demonstrations";
  const held = heldOut === 0 ? "" : `, ${grouped(heldOut)} of them held out`;
  return [
    `training: ${counted(rows, kind)}${held}`,
    `  prompts   ${spreadText(prompts)}`,
    `  ${kind === "pair" ? "chosen  " : "answers "}  ${spreadText(answers)}${tokensText(longest(name))}`,
    ...(rejected ? [`  rejected  ${spreadText(rejected)}${tokensText(longest(`${name}, rejected`))}`] : []),
    ...(sampled ? [`  token ids ${sampledText(sampled, rows)}`] : []),
    `  repeated  ${repeated.length === 0 ? "none" : `${counted(repeated.length, "row")} identical to an earlier row: ${list(repeated)}`}`,
  ];
}

function sampledText({ rows, logprob }: NonNullable<ExampleSummary["sampled"]>, all: number): string {
  const likely = logprob === undefined ? "" : `; mean log-probability ${logprob.toFixed(2)} per token`;
  return `in ${grouped(rows)} of ${counted(all, "row")}, which train as they were sampled${likely}`;
}

function spreadText({ least, median, most }: Spread): string {
  return `${grouped(least)} to ${counted(most, "character")}, median ${grouped(median)}`;
}

function tokensText(longest: number | undefined): string {
  return longest === undefined ? "" : `; up to ${counted(longest, "token")} with template and tools`;
}

function list(all: readonly string[]): string {
  const more = all.length - named;
  return `${all.slice(0, named).join(", ")}${more > 0 ? ` and ${grouped(more)} more` : ""}`;
}

function quoted(text: string): string {
  const short = text.length > shown ? `${text.slice(0, shown)}…` : text;
  return JSON.stringify(short);
}
