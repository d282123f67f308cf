import { counted, duration, number } from "../../../base/text/format.ts";
import { stepOf } from "../../../contracts/stages.ts";
import { type Html, html, prose } from "../../../results/report/html.ts";
import { metricTitle } from "../../../results/report/metric-text.ts";
import { tokenTexts } from "../../../results/report/token-texts.ts";
import { tokenRows } from "../../../run/projections/token-rows.ts";
import type { TrajectoryName } from "../../../run/store/keys.ts";
import type { RecordReader } from "../../../run/trajectory/reader.ts";
import { withResults } from "../ended-trajectories.ts";
import { orderForm, textField } from "../form.ts";
import { document } from "../layout.ts";
import { livePart } from "../live-part.ts";
import { runPath, trajectoryPath, withQuery } from "../paths.ts";
import { readTimeline } from "../read-timeline.ts";
import { type DetailPage, groupAdvantage } from "../read-trajectory-page.ts";
import { facts, link } from "../table.ts";
import { type ShownRun, temporalPage } from "../ui-context.ts";
import { conversation } from "./conversation.ts";
import { decision, orders, statusLine } from "./orders.ts";
import { neighbors, siblings } from "./siblings.ts";
import { timeline } from "./timeline.ts";
import { tokenColours, tokensSection } from "./tokens.ts";

/** A trajectory: its conversation, its results, its tokens if `tokens` names a color, and the forms for a person. */
export async function trajectoryPage(
  run: ShownRun,
  shown: DetailPage,
  tokens: string | undefined,
): Promise<string> {
  const { id, name, detail, reader } = shown;
  const path = trajectoryPath(id);
  const isOver = detail.record !== undefined;
  const said = isOver ? talk(run, shown) : livePart(trajectoryPath(id, "part"), talk(run, shown));
  const colour = tokenColours.find((one) => one === tokens);
  const temporal = temporalPage(run, id);
  const ofStage = await stageOf(reader, name);
  const group = await withResults(
    reader,
    ofStage.filter(({ task }) => task === name.task),
  );
  const links = [
    ...neighbors(run.id, ofStage, name),
    link(runPath(run.id, "tasks", name.task), "this task over the training"),
    ...(stepOf(name.stage) === undefined
      ? []
      : [link(runPath(run.id, "steps", String(stepOf(name.stage))), "its step")]),
    ...(colour === undefined
      ? [link(withQuery(path, { tokens: "mask" }), "show tokens")]
      : [link(path, "hide tokens")]),
    ...(temporal === undefined ? [] : [html`<a href="${temporal}">in the Temporal UI</a>`]),
  ];
  const content = [
    html`<h1>${id}</h1><p class="pages">${links}</p>${summary(shown)}`,
    ...(shown.live === undefined ? [] : [orders(id)]),
    siblings(run.id, group, name),
    timeline(await readTimeline(reader, name, detail)),
    html`<h2>Conversation</h2>${said}`,
    ...(colour === undefined
      ? []
      : [
          tokensSection(
            path,
            colour,
            tokenRows(detail.segments, await tokenTexts(run)),
            groupAdvantage(shown, group),
          ),
        ]),
    ...(isOver ? [again(id, detail.turns.length)] : []),
  ];
  return document({
    title: id,
    above: [
      [runPath(run.id), run.id],
      [runPath(run.id, "trajectories"), "trajectories"],
    ],
    content,
    unreadable: run.unreadable,
  });
}

/** The trajectories of a stage; those in files of later steps only if this trajectory is in one of them. */
async function stageOf(
  reader: Pick<RecordReader, "near" | "list">,
  { stage, task, sample }: TrajectoryName,
): Promise<TrajectoryName[]> {
  const near = await reader.near(stage);
  return near.some((one) => one.task === task && one.sample === sample) ? near : reader.list({ stage });
}

/** The part that changes while it is in progress: its state, waiting calls, and its conversation. */
export function talk(run: ShownRun, { id, detail, live, silent }: DetailPage): Html {
  const state =
    live !== undefined
      ? [statusLine(live)]
      : silent === undefined
        ? []
        : [html`<p class="problem">${prose(silent)}</p>`];
  const waiting = (live?.waiting ?? []).map((call) => decision(id, call));
  return html`${state}${conversation(run.id, detail, live?.prompt)}<div class="talk">${waiting}</div>`;
}

function summary({ detail: { record, turns, tokens }, live }: DetailPage): Html {
  const size = `${tokens.prompt} prompt, ${tokens.action} action, ${tokens.observation} observation`;
  const common = [
    ["turns", String(turns.length)],
    ["tokens", size],
  ] as const;
  if (record === undefined)
    return html`<div class="card">${facts([["state", live === undefined ? "not finished" : "running"], ...common])}</div>`;
  const {
    outcome,
    reward,
    success,
    metrics = {},
    task,
    failure,
    answer,
    seconds,
    startedAt,
    origin,
    turnRewards,
  } = record;
  const optional = (title: string, value: string | undefined) =>
    value === undefined ? [] : [[title, value] as const];
  const solved = html`<span class="${success ? "badge gained" : "badge lost"}">${success ? "solved" : "not solved"}</span>`;
  return html`<div class="card">${facts([
    ["outcome", html`${outcome} ${solved}`],
    ["reward", number(reward)],
    ...Object.entries(metrics).map(([metric, value]) => [metricTitle(metric), number(value)] as const),
    ...optional("rewards of turns", turnRewards?.map(number).join(", ")),
    ["expected", String(task.reward_model.ground_truth)],
    ...optional("answer", answer),
    ...optional("left out because", failure),
    ...common,
    [
      "calls",
      counted(
        turns.reduce((sum, { toolCalls }) => sum + toolCalls.length, 0),
        "tool call",
      ),
    ],
    [
      "time",
      `${duration(seconds)}${startedAt === undefined ? "" : `, from ${startedAt.slice(0, 19).replace("T", " ")} UTC`}`,
    ],
    ...optional(
      "fork of",
      origin === undefined ? undefined : `${origin.trajectory}, after turn ${origin.turns}`,
    ),
  ])}</div>`;
}

function again(id: string, turns: number): Html {
  const kept = textField("turn", `turns to keep, 0 to ${Math.max(0, turns - 1)}`, {
    value: String(Math.max(0, turns - 1)),
    type: "number",
    required: true,
  });
  return html`<h2>Fork or replay</h2><p class="lead">A fork keeps the first turns without repeating their calls, and continues from there. A replay runs the current workflow code over the recorded history.</p>
${orderForm(trajectoryPath(id, "fork"), "Fork", {}, [kept, textField("temperature", "temperature", { hint: "as before", type: "number" }), textField("count", "how many", { value: "1", type: "number" })])}
${orderForm(trajectoryPath(id, "replay"), "Replay", {})}`;
}
