import { messageOf } from "../../../base/errors/message-of.ts";
import { foldersIn } from "../../../base/files/names-in.ts";
import { type Html, html, nothing } from "../../../results/report/html.ts";
import { table } from "../../../results/report/table.ts";
import { mayBeRun } from "../../../run/folder/run-file.ts";
import { document } from "../layout.ts";
import { livePart } from "../live-part.ts";
import { readRunLine, runCells, runTitles } from "../run-line.ts";
import { shownRun, type UiContext } from "../ui-context.ts";
import { mostRuns } from "./compare-runs-page.ts";

/** All runs of the folder, the newest first. */
export async function runsPage(context: UiContext): Promise<string> {
  const ids = await runIds(context);
  const comparing =
    ids.length < 2
      ? []
      : [
          html`<h2>Compare runs</h2><form class="filter" action="/compare-runs"><fieldset><legend>${`up to ${mostRuns} runs in one plot`}</legend>${ids.slice(0, offered).map(checkbox)}</fieldset><button>Compare</button></form>`,
        ];
  const content = [
    html`<h1>Runs</h1><p class="facts">${`in ${context.runs}`}</p>`,
    livePart("/parts/runs", await runsPart(context)),
    ...comparing,
  ];
  return document({ title: "Runs", content });
}

/** The most runs that the form offers, the newest first. An address may name others. */
const offered = 40;

function checkbox(id: string, index: number): Html {
  const checked = index < 2 ? html` checked` : nothing;
  return html`<label><input type="checkbox" name="run" value="${id}"${checked}> ${id}</label>`;
}

/** The current list of runs. */
export async function runsPart(context: UiContext): Promise<Html> {
  const ids = await runIds(context);
  if (ids.length === 0)
    return html`<p class="empty">There are no runs here yet: <code>npx everturn run PIPELINE</code> starts one.</p>`;
  const rows = await Promise.all(ids.map((id) => row(context, id)));
  return table("Runs", runTitles, rows);
}

async function row(context: UiContext, id: string): Promise<(string | Html)[]> {
  try {
    return runCells(await readRunLine(await shownRun(context, id)));
  } catch (error) {
    return [id, "", messageOf(error), ...runTitles.slice(3).map(() => "–")];
  }
}

async function runIds({ runs }: UiContext): Promise<string[]> {
  return (await foldersIn(runs))
    .filter((name) => mayBeRun(runs, name))
    .sort(byTime)
    .reverse();
}

/** Orders runs by the time at the end of their names, unless a person named them. */
function byTime(one: string, other: string): number {
  const time = (name: string) => /\d{8}-\d{6}/.exec(name)?.[0] ?? "";
  return time(one).localeCompare(time(other)) || one.localeCompare(other);
}
