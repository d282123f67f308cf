import { approvalText } from "../../../base/text/approval.ts";
import { counted } from "../../../base/text/format.ts";
import type { Call, Frame } from "../../../contracts/generated/trajectory.ts";
import type { Message } from "../../../contracts/message.ts";
import { type Html, html } from "../../../results/report/html.ts";
import { type PromptPart, seenPrompt } from "../../../results/report/prompt-images.ts";
import { turnFacts } from "../../../results/report/turn-facts.ts";
import type { Detail, TrajectoryDetail } from "../../../run/projections/trajectory-detail.ts";
import { runPath, withQuery } from "../paths.ts";

/** The conversation of a trajectory: the prompt, and each turn's action, calls and observations. */
export function conversation(
  run: string,
  { record, turns, segments }: TrajectoryDetail,
  prompt: readonly Message[] = record?.task.prompt ?? [],
): Html {
  const asRead = segments[0]?.text;
  const whole =
    asRead === undefined
      ? []
      : [
          html`<details><summary>The prompt as the model read it, with the system prompt and the tools</summary><pre class="card" tabindex="0" role="region" aria-label="The whole prompt">${asRead}</pre></details>`,
        ];
  const said = seenPrompt(prompt, segments[0]).map(
    ({ role, parts }) =>
      html`<section class="said"><h3>${role}</h3>${parts.map((part) => promptPart(run, part))}</section>`,
  );
  return html`<div class="talk">${said}${whole}${turns.flatMap((turn, index) => turnOf(run, turn, index, record?.policyVersions[index]))}</div>`;
}

function promptPart(run: string, part: PromptPart): Html {
  if ("text" in part) return html`<pre>${part.text}</pre>`;
  return html`<img src="${runPath(run, "bytes", part.sha256)}" alt="image of the prompt" loading="lazy">`;
}

function turnOf(run: string, turn: Detail, index: number, version?: number): Html[] {
  const { agent, action, toolCalls, said = [] } = turn;
  const whom = agent === undefined ? "" : ` to the sub-agent ${agent}`;
  return [
    ...said.map(
      ({ role, content }) =>
        html`<section class="said person"><h3>${`a person, as ${role}${whom}`}</h3><pre>${content}</pre></section>`,
    ),
    html`<section class="said action" id="turn-${index + 1}"><h3>${`turn ${index + 1}${agent === undefined ? "" : ` of the sub-agent ${agent}`}`}<span>${turnFacts(turn, version)}</span></h3><pre>${action || "(nothing)"}</pre></section>`,
    ...toolCalls.map((call) => callOf(run, call)),
  ];
}

function callOf(run: string, call: Call): Html {
  const {
    tool,
    arguments: given,
    observation,
    valid,
    attempts,
    approval,
    media = [],
    whole,
    done,
    byLoop,
  } = call;
  const facts = [
    valid ? "valid" : "not valid",
    counted(attempts, "attempt"),
    ...(approval === undefined ? [] : [approvalText[approval]]),
    ...(byLoop === true ? ["by the loop"] : []),
    ...(done === true ? ["it said that it is done"] : []),
  ];
  const images = media.flatMap(({ name, type, frames }) =>
    frames.map((frame) => imageOf(run, frame, name ?? type)),
  );
  const rest =
    whole === undefined
      ? []
      : [html`<p><a href="${bytesPath(run, whole, "text/plain")}">the whole observation</a></p>`];
  const written = typeof given === "string" ? given : JSON.stringify(given, undefined, 2);
  return html`<section class="said call"><h3>${tool || "unreadable call"}<span>${facts.join(" · ")}</span></h3><pre>${written}</pre><div class="observation"><pre>${observation}</pre>${images}${rest}</div></section>`;
}

function imageOf(run: string, { sha256, mediaType, width, height }: Frame, name: string): Html {
  const size = width === undefined ? "" : `, ${width}×${height}`;
  return html`<img src="${bytesPath(run, sha256, mediaType)}" alt="${`${name}, ${mediaType}${size}`}" loading="lazy">`;
}

function bytesPath(run: string, sha256: string, type: string): string {
  return withQuery(runPath(run, "bytes", sha256), { type });
}
