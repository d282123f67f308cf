import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { number } from "../../../base/text/format.ts";
import { stepStage } from "../../../contracts/stages.ts";
import { html } from "../../../results/report/html.ts";
import { recordedStepKey } from "../../../run/store/keys.ts";
import { document } from "../layout.ts";
import { runPath, withQuery } from "../paths.ts";
import { facts, link } from "../table.ts";
import type { ShownRun } from "../ui-context.ts";

/** A step with its whole record. Throws STEP_NOT_FOUND. */
export async function stepPage(run: ShownRun, named: string): Promise<string> {
  const step = /^[1-9]\d{0,8}$/.test(named) ? Number(named) : 0;
  const record = step === 0 ? undefined : await run.store.read(recordedStepKey(step));
  if (record === undefined) throw new EverturnError("STEP_NOT_FOUND", { run: run.id, step: named });
  const stage = stepStage(step);
  const other = (to: number, text: string) => link(runPath(run.id, "steps", String(to)), text);
  const around = [
    ...(step === 1 ? [] : [other(step - 1, "← the step before")]),
    other(step + 1, "the next step →"),
  ];
  const content = html`<h1>Step ${step}</h1><p class="pages">${around}</p>
<p>${link(withQuery(runPath(run.id, "trajectories"), { stage, sort: "reward desc" }), "Its trajectories")}</p>
<div class="card">${facts(Object.entries(record).map(([name, value]) => [name, typeof value === "number" ? number(value) : JSON.stringify(value)]))}</div>`;
  return document({
    title: `Step ${step} of ${run.id}`,
    above: [[runPath(run.id), run.id]],
    content,
    unreadable: run.unreadable,
  });
}
