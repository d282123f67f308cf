import { differenceText, estimateText, probabilityText } from "../../../base/text/estimate.ts";
import { counted } from "../../../base/text/format.ts";
import { compare } from "../../../control/operations/compare.ts";
import { describedEvaluation } from "../../../control/operations/described-evaluation.ts";
import type { ComparedMeasures, EvaluationComparison } from "../../../results/evaluations/compare.ts";
import { html } from "../../../results/report/html.ts";
import { table } from "../../../results/report/table.ts";
import { document } from "../layout.ts";
import { runPath } from "../paths.ts";
import { link } from "../table.ts";
import type { UiContext } from "../ui-context.ts";

/** The most tasks of each kind to name. */
const most = 200;

/** The comparison of two evaluations. Throws the errors of comparing them. */
export async function comparePage({ runs }: UiContext, firstId: string, secondId: string): Promise<string> {
  const notices: string[] = [];
  const compared = await compare(firstId, secondId, { runs, onNotice: (text) => notices.push(text) });
  const { gained, lost, bySource, byTag } = compared;
  const groups: [string, ComparedMeasures][] = [
    ["all", compared],
    ...Object.entries(bySource),
    ...Object.entries(byTag),
  ];
  const rows = groups.flatMap(([name, { tasks, measures }]) =>
    Object.entries(measures).map(([measure, { first, second, difference }]) => [
      name,
      measure,
      String(tasks),
      estimateText(measure, first),
      estimateText(measure, second),
      differenceText(measure, difference),
      probabilityText(difference.p),
    ]),
  );
  const titles = ["tasks of", "measure", "tasks", "first", "second", "difference", "p"];
  const content = html`<h1>Two evaluations</h1>${notices.map((text) => html`<p class="problem">${text}</p>`)}
<dl><dt>first</dt><dd>${describedEvaluation(compared.first)}</dd><dt>second</dt><dd>${describedEvaluation(compared.second)}</dd></dl>
<p class="facts">${`On ${counted(compared.tasks, "task")} that both have; 95 % intervals; p of a paired test.`}</p>
${table("Measures", titles, rows)}<h2>Newly solved: ${gained.length}</h2>${taskLinks(compared, gained)}<h2>Lost: ${lost.length}</h2>${taskLinks(compared, lost)}`;
  return document({ title: `${compared.first.id} and ${compared.second.id}`, content });
}

function taskLinks({ second }: EvaluationComparison, ids: readonly string[]) {
  const [run = ""] = second.id.split("/");
  const more = ids.length > most ? ` and ${ids.length - most} more` : "";
  return html`<p class="pages">${ids.slice(0, most).map((id) => link(runPath(run, "tasks", id), id))}${more}</p>`;
}
