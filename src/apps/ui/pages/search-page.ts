import { counted, grouped } from "../../../base/text/format.ts";
import { trajectoryId } from "../../../contracts/trajectory-id.ts";
import { type Html, html } from "../../../results/report/html.ts";
import type { TextHit } from "../../../results/table/search-texts.ts";
import { textField } from "../form.ts";
import { document, runHeading } from "../layout.ts";
import { livePart } from "../live-part.ts";
import type { Search } from "../open-searches.ts";
import { runPath, trajectoryPath, withQuery } from "../paths.ts";
import type { ShownRun, UiContext } from "../ui-context.ts";

/** A search in the texts of all trajectories of a run; without a text, only its form. */
export function searchPage({ searches }: UiContext, run: ShownRun, text: string): string {
  const form = html`<form class="filter" role="search">${textField("text", "text of prompts, actions and observations", { value: text, wide: true, required: true })}<button>Search</button></form>`;
  return document({
    title: `Search in ${run.id}`,
    content: [runHeading(run.id, "Search"), form, text === "" ? hint : found(run, searches.of(run, text))],
    unreadable: run.unreadable,
  });
}

const hint = html`<p class="empty">The search covers all trajectories, running ones too, the newest first. Case does not matter.</p>`;

function found(run: ShownRun, search: Search): Html {
  const part = searchPart(run, search);
  const path = withQuery(runPath(run.id, "parts", "search"), { text: search.text });
  return search.state === "at work" ? livePart(path, part, 1) : part;
}

/** The hits so far. */
export function searchPart(
  { id: run }: Pick<ShownRun, "id">,
  { hits, searched, state, problem }: Search,
): Html {
  const progress = `${counted(hits.length, "trajectory", "trajectories")} found in ${grouped(searched)} searched`;
  const isStopped = state === "stopped at the most hits";
  const note = isStopped ? ". There may be more. Search for a longer text to find the others." : "";
  const trouble = problem === undefined ? [] : [html`<p class="problem" role="alert">${problem}</p>`];
  return html`<p class="facts" role="status"><span class="state ${state === "at work" ? "live" : ""}">${isStopped ? "stopped" : state}</span> ${`${progress}${note}`}</p>${trouble}<div class="talk">${hits.map((hit) => hitCard(run, hit))}</div>`;
}

function hitCard(run: string, { name, turn, origin, before, found: text, after }: TextHit): Html {
  const path = `${trajectoryPath(trajectoryId({ ...name, run }))}#turn-${turn}`;
  const called = `${name.stage}/${name.task}/${name.sample}`;
  return html`<section class="said"><h2 class="hit-name"><a href="${path}">${called}</a><span>${`turn ${turn}, ${origin}`}</span></h2><pre>${before}<mark>${text}</mark>${after}</pre></section>`;
}
