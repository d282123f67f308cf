import { estimateText } from "../../../base/text/estimate.ts";
import { counted, duration, grouped, number, percent } from "../../../base/text/format.ts";
import type { EvaluationRecord } from "../../../contracts/run.ts";
import { type Html, html } from "../../../results/report/html.ts";
import { table } from "../../../results/report/table.ts";
import { otherEvaluations, ownEvaluations } from "../../../run/folder/evaluations.ts";
import { lastRecordedStep } from "../../../run/folder/recorded-steps.ts";
import { firstVersion } from "../../../run/versions/first-version.ts";
import { textField } from "../form.ts";
import { document, runHeading } from "../layout.ts";
import { livePart } from "../live-part.ts";
import { runPath, withQuery } from "../paths.ts";
import { runningEvaluations } from "../running-evaluations.ts";
import { link } from "../table.ts";
import type { ShownRun } from "../ui-context.ts";

/** A run's evaluations, its own and others, and a form that compares two. */
export async function evaluationsPage(run: ShownRun): Promise<string> {
  const { all } = await readEvaluations(run);
  const idOf = (record: EvaluationRecord | undefined) =>
    record === undefined ? "" : `${run.id}/${record.name}`;
  const [first, second] = [idOf(all[0]), idOf(all.at(-1))];
  const hint = "RUN/EVALUATION, or a run";
  const part = livePart(runPath(run.id, "parts", "evaluations"), await evaluationsPart(run), 4);
  const content = html`${runHeading(run.id, "Evaluations")}${part}
<h2>Compare two</h2><form class="filter" action="/compare">${textField("first", "first", { value: first, hint, wide: true })}${textField("second", "second", { value: second, hint, wide: true })}<button>Compare</button></form>`;
  return document({ title: `Evaluations of ${run.id}`, content, unreadable: run.unreadable });
}

/** The evaluations, and how far those that run now are. */
export async function evaluationsPart(run: ShownRun): Promise<Html> {
  const { all, newest } = await readEvaluations(run);
  const running = await runningEvaluations(run, newest, all);
  const bars = running.map(({ name, done, of }) => {
    const path = withQuery(runPath(run.id, "trajectories"), { stage: name });
    return html`<p class="progress">${link(path, name)}<progress aria-label="${name}" value="${done}" max="${of}"></progress><span>${`${grouped(done)} of ${counted(of, "trajectory", "trajectories")}`}</span></p>`;
  });
  const titles = ["evaluation", "version", "accuracy", "reward", "tasks", "sampling", "left out", "time"];
  const recorded = table(
    "Evaluations",
    titles,
    all.map((record) => cells(run, record)),
  );
  return html`${bars}${all.length === 0 ? html`<p class="empty">No evaluation has ended yet. <code>${`npx everturn evaluate ${run.id}`}</code> starts one at any time.</p>` : recorded}`;
}

/** The recorded evaluations, and the newest version of the policy. */
async function readEvaluations(run: ShownRun): Promise<{ all: EvaluationRecord[]; newest: number }> {
  const last = await lastRecordedStep(run.store);
  const newest = last?.policyVersion ?? firstVersion(run.plan);
  const own = await ownEvaluations(run, newest);
  return { all: [...own, ...(await otherEvaluations(run, own))], newest };
}

function cells(run: ShownRun, record: EvaluationRecord) {
  const {
    name,
    policyVersion,
    accuracy,
    rewardMean,
    tasks,
    samples = 1,
    temperature = 0,
    leftOut,
    seconds,
    numbers,
  } = record;
  const measured = Object.entries(numbers?.measures ?? {}).map(
    ([measure, estimate]) => `${measure} ${estimateText(measure, estimate)}`,
  );
  return [
    link(withQuery(runPath(run.id, "trajectories"), { stage: name }), name),
    String(policyVersion),
    measured.length === 0 ? percent(accuracy) : measured.join(" · "),
    rewardMean === undefined ? "–" : number(rewardMean),
    grouped(tasks),
    temperature === 0 ? "greedy" : `${samples} per task at temperature ${temperature}`,
    String(leftOut),
    duration(seconds),
  ];
}
