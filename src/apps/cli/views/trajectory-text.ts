import { visible } from "../../../base/processes/terminal.ts";
import { approvalText } from "../../../base/text/approval.ts";
import { counted, duration, number } from "../../../base/text/format.ts";
import type { Call, Frame, Media, Trajectory } from "../../../contracts/generated/trajectory.ts";
import { turnFacts } from "../../../results/report/turn-facts.ts";
import type { TokenRow } from "../../../run/projections/token-rows.ts";
import type { Detail, TrajectoryDetail } from "../../../run/projections/trajectory-detail.ts";
import type { Paint } from "./spans.ts";
import { tableLines } from "./table.ts";

/** A trajectory as text, turn by turn. `tokens` adds a table of every token. */
export function trajectoryText(detail: TrajectoryDetail, paint: Paint, tokens?: readonly TokenRow[]): string {
  const sections = [
    [paint("bold", detail.id), headline(detail), ...metricLines(detail), ...originLines(detail)].join("\n"),
    [paint("cyan", "prompt"), indented(promptText(detail))].join("\n"),
    ...detail.turns.map((turn, index) => turnText(turn, index, detail.record, paint)),
    ending(detail.record, paint),
    ...(tokens === undefined ? [] : [tokenTable(tokens)]),
  ];
  return `${sections.join("\n\n")}\n`;
}

/**
 * The prompt as the policy read it, with the system prompt and the tools; the task's messages if no turn is recorded.
 */
function promptText({ segments, record }: TrajectoryDetail): string {
  const messages = record?.task.prompt ?? [];
  return segments[0]?.text.trimEnd() ?? messages.map(({ role, content }) => `${role}: ${content}`).join("\n");
}

/** The measurements of the reward and the tools. */
function metricLines({ record }: TrajectoryDetail): string[] {
  const metrics = Object.entries(record?.metrics ?? {});
  return metrics.length === 0 ? [] : [metrics.map(([name, value]) => `${name} ${number(value)}`).join(" · ")];
}

function originLines({ record }: TrajectoryDetail): string[] {
  if (record?.origin === undefined) return [];
  const { trajectory, turns, temperature, seed, policyFolder } = record.origin;
  const policy = policyFolder === undefined ? "" : `, policy ${policyFolder}`;
  return [`fork of ${trajectory} after turn ${turns}: temperature ${temperature}, seed ${seed}${policy}`];
}

function headline({ record, turns, tokens }: TrajectoryDetail): string {
  const calls = turns.reduce((total, turn) => total + turn.toolCalls.length, 0);
  const version = record?.policyVersions.at(-1) ?? turns.at(-1)?.generated?.policyVersion;
  return [
    ...(record === undefined ? ["under way"] : [record.outcome, `reward ${record.reward}`]),
    ...(version === undefined ? [] : [`policy version ${version}`]),
    counted(turns.length, "turn"),
    counted(calls, "tool call"),
    `tokens: ${tokens.prompt} prompt, ${tokens.action} action, ${tokens.observation} observation`,
    ...(record === undefined ? [] : [duration(record.seconds)]),
  ].join(" · ");
}

function turnText(turn: Detail, index: number, record: Trajectory | undefined, paint: Paint): string {
  return [
    `${paint("bold", `turn ${index + 1}`)}  ${paint("dim", turnFacts(turn, record?.policyVersions[index]))}`,
    ...cutLines(turn, paint),
    ...saidLines(turn, paint),
    paint("green", turn.agent === undefined ? "action" : `action of the sub-agent ${turn.agent}`),
    indented(turn.action),
    ...turn.toolCalls.flatMap((call) => callLines(call, paint)),
  ].join("\n");
}

/** A note that the policy read less than the previous turn shows. */
function cutLines({ generated }: Detail, paint: Paint): string[] {
  const { cutObservations: cut = 0 } = generated ?? {};
  const text = `${counted(cut, "observation")} of the previous turn truncated for the policy (--tokens shows where)`;
  return cut === 0 ? [] : [paint("dim", text)];
}

/** Messages that people sent before a turn's action. */
export function saidLines({ said = [] }: Pick<Detail, "said">, paint: Paint): string[] {
  return said.flatMap(({ role, content }) => [paint("cyan", `said as ${role}`), indented(content)]);
}

/** A tool call with its observation. */
export function callLines(call: Call, paint: Paint): string[] {
  const written = typeof call.arguments === "object" ? JSON.stringify(call.arguments) : call.arguments;
  const validity = call.valid ? paint("dim", "valid") : paint("red", "not valid");
  const approval = call.approval === undefined ? "" : `, ${approvalText[call.approval]}`;
  const count = counted(call.attempts, "attempt");
  const attempts = call.attempts === 0 ? "" : `, ${call.attempts > 1 ? paint("yellow", count) : count}`;
  return [
    `${paint("magenta", "tool call")}  ${visible(`${call.tool} ${written}`).trim()}  ${validity}${attempts}${approval}${call.byLoop === true ? ", by the loop" : ""}`,
    paint("magenta", "observation"),
    indented(call.observation),
    ...mediaNames(call).map(({ name, called, frame }) =>
      paint("dim", `  ${frameText(visible(called ?? name), frame)}`),
    ),
    ...(call.whole === undefined ? [] : [paint("dim", `  whole: sha256 ${call.whole} (--whole prints it)`)]),
    ...(call.done === true ? [paint("yellow", "  the tool ended the trajectory")] : []),
  ];
}

/** An image of an observation, by its place there (image-1, video-1-frame-1), and the tool's name for it, if any. */
interface NamedFrame {
  name: string;
  called?: string;
  frame: Frame;
}

/** The images of an observation by name. */
export function mediaNames({ media = [] }: Pick<Call, "media">): NamedFrame[] {
  return media.flatMap((one, index) => {
    const ordinal = media.slice(0, index + 1).filter(({ type }) => type === one.type).length;
    return one.frames.map((frame, at) => {
      const name = frameName(one, ordinal, at);
      if (one.name === undefined) return { name, frame };
      return { name, called: one.type === "image" ? one.name : `${one.name}, frame ${at + 1}`, frame };
    });
  });
}

function frameName({ type }: Media, ordinal: number, frame: number): string {
  return type === "image" ? `image-${ordinal}` : `video-${ordinal}-frame-${frame + 1}`;
}

function frameText(name: string, { mediaType, bytes, width, height, sha256 }: Frame): string {
  const size = width === undefined ? "" : `, ${width}×${height}`;
  return `${name}: ${mediaType}${size}, ${counted(bytes, "byte")}, sha256 ${sha256}`;
}

function ending(record: Trajectory | undefined, paint: Paint): string {
  if (record === undefined) return paint("yellow", "still running");
  const solved = record.success ? paint("green", "solved") : paint("red", "not solved");
  const failure = record.failure === undefined ? [] : [`left out because: ${visible(record.failure)}`];
  const truth = `expected: ${visible(record.task.reward_model.ground_truth)}`;
  return [
    `${paint("bold", record.outcome)}  reward ${record.reward}  ${solved}  ${paint("dim", truth)}`,
    ...failure,
  ].join("\n");
}

/** Id, text, mask and log-probability of every token, by position. */
function tokenTable(rows: readonly TokenRow[]): string {
  const columns = [
    { title: "position", align: "right" as const },
    { title: "origin" },
    { title: "id", align: "right" as const },
    { title: "text" },
    { title: "mask", align: "right" as const },
    { title: "log-probability", align: "right" as const },
  ];
  const cells = rows.map(({ position, origin, token, text, mask, logprob }) => [
    String(position),
    origin,
    String(token),
    text === undefined ? "" : visible(JSON.stringify(text)),
    String(mask),
    logprob?.toFixed(4) ?? "",
  ]);
  return tableLines(columns, cells).join("\n");
}

/** Indents text, to separate it from its description. */
export function indented(text: string): string {
  return visible(text).replace(/^/gm, "  ");
}
