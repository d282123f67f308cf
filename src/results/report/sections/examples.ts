import { counted } from "../../../base/text/format.ts";
import type { Media, Trajectory, Turn } from "../../../contracts/generated/trajectory.ts";
import type { EvaluationRecord } from "../../../contracts/run.ts";
import type { Change, Comparison, Pair } from "../comparison.ts";
import { type Html, html, nothing } from "../html.ts";
import type { PromptPart } from "../prompt-images.ts";

const changes: Record<Change, string> = {
  gained: "newly solved",
  lost: "no longer solved",
  unsolved: "still unsolved",
  kept: "solved both times",
};

const turnsShown = { first: 4, last: 12 };

/** Data URLs by the SHA-256 of images. */
type Images = ReadonlyMap<string, string>;

/** The same held-out tasks before and after reinforcement learning, next to each other. */
export function examples(comparison: Comparison | undefined, images: Images): Html {
  if (comparison === undefined) return nothing;
  const { before, after, counts } = comparison;
  const kinds: Change[] = ["gained", "lost", "unsolved", "kept"];
  const total = kinds.reduce((sum, kind) => sum + counts[kind], 0);
  const summary = kinds.map((kind) => `${counts[kind]} ${changes[kind]}`).join(", ");
  return html`<h2>Trajectories before and after</h2>
<p class="lead">${`Of ${counted(total, "held-out task")}: ${summary}. Below are the first of each kind, not a selection.`}</p>
${comparison.examples.map((pair) => pairOf(pair, before, after, images))}`;
}

function pairOf(
  { change, prompt, before, after }: Pair,
  earlier: EvaluationRecord,
  later: EvaluationRecord,
  images: Images,
): Html {
  const asked = prompt.flatMap(({ parts }) => parts.map((part) => promptPart(part, images)));
  const badge = html`<span class="badge ${change}">${changes[change]}</span>`;
  const truth = html`<p class="truth">${`expected ${before.task.reward_model.ground_truth}`}</p>`;
  return html`<article class="card pair"><div class="task">${badge}<div class="asked">${asked}</div>${truth}</div>
<div class="sides">${side(before, titleOf(earlier), images)}${side(after, titleOf(later), images)}</div></article>
`;
}

function promptPart(part: PromptPart, images: Images): Html {
  if ("text" in part) return html`<p>${part.text}</p>`;
  const name = `image of the prompt, sha256 ${part.sha256}`;
  const source = images.get(part.sha256);
  if (source === undefined) return html`<span class="media">${name}</span>`;
  return html`<img src="${source}" alt="${name}" title="${name}">`;
}

function titleOf({ step, policyVersion }: EvaluationRecord): string {
  const when = step === 0 ? "before reinforcement learning" : `after step ${step}`;
  return `${when} (version ${policyVersion})`;
}

function side(record: Trajectory, title: string, images: Images): Html {
  const verdict = record.success ? "solved" : "not solved";
  const facts = `${record.outcome} · reward ${record.reward} · ${counted(record.turns.length, "turn")}`;
  const ending = html`<p class="verdict ${record.success ? "good" : "bad"}">${verdict}<span>${facts}</span></p>`;
  const chat = html`<div class="chat">${chatOf(record.turns, images)}</div>`;
  return html`<section><h4>${title}</h4>${chat}${ending}<p class="id">${record.id}</p></section>`;
}

/** The turns of a trajectory. A long one is shown without its middle. */
function chatOf(turns: Turn[], images: Images): Html[] {
  const left = turns.length - turnsShown.first - turnsShown.last;
  const shown = (some: Turn[]) => some.map((one) => turn(one, images));
  if (left <= 0) return shown(turns);
  const gap = html`<p class="truth">${`${counted(left, "turn")} left out here`}</p>`;
  return [...shown(turns.slice(0, turnsShown.first)), gap, ...shown(turns.slice(-turnsShown.last))];
}

function turn({ action, toolCalls }: Turn, images: Images): Html {
  if (toolCalls.length === 0) return html`<div class="bubble answer">${action || "(nothing)"}</div>`;
  const said = action.replace(/<tool_call>[\s\S]*?(<\/tool_call>|$)/g, "").trim();
  const calls = toolCalls.map(({ tool, arguments: written, observation, valid, attempts, media = [] }) => {
    const text = typeof written === "string" ? written : JSON.stringify(written);
    const notes = [...(valid ? [] : ["not valid"]), ...(attempts > 1 ? [`${attempts} attempts`] : [])];
    const name = html`<p class="tool">${tool || "unreadable call"}<span>${notes.join(", ")}</span></p>`;
    const answer = html`<div class="observation"><span>↳</span><code>${observation}</code>${media.map((one) => thumbnail(one, images))}</div>`;
    return html`<div class="call">${name}<code>${text}</code>${answer}</div>`;
  });
  return html`${said === "" ? [] : [html`<div class="bubble">${said}</div>`]}${calls}`;
}

/** An image, or the first frame of a video; only its name if the report has no room for it. */
function thumbnail({ type, name: called = type, frames: [first] }: Media, images: Images): Html {
  if (first === undefined) return nothing;
  const source = images.get(first.sha256);
  const name = `${called}, ${first.mediaType}, sha256 ${first.sha256}`;
  if (source === undefined) return html`<span class="media">${name}</span>`;
  return html`<img src="${source}" alt="${name}" title="${name}">`;
}
