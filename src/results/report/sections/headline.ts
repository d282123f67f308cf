import { shareInterval } from "../../../base/statistics/share-interval.ts";
import { counted, percent } from "../../../base/text/format.ts";
import { trainingName } from "../../../base/text/training-name.ts";
import type { EvaluationRecord } from "../../../contracts/run.ts";
import { firstVersion } from "../../../run/versions/first-version.ts";
import { type Html, html } from "../html.ts";
import type { RunData } from "../read-run.ts";

/** Held-out accuracy of the policy as built, after the warm start, and after its steps, as far as known. */
export function headline({ plan, evaluations, steps }: RunData): Html {
  const start = firstVersion(plan);
  const built = evaluations.find((record) => record.policyVersion === 0);
  const warm = start === 0 ? undefined : evaluations.find((record) => record.policyVersion === start);
  const latest = evaluations.findLast((record) => record.policyVersion > start);
  const isOver = steps.length >= plan.steps;
  const training = trainingName(plan);
  const latestTitle = isOver ? `after ${training}` : `after step ${latest?.step ?? 0}, so far`;
  const tiles = [
    ...(built === undefined ? [] : [tile("policy as built", built)]),
    ...(warm === undefined ? [] : [tile("after the warm start", warm)]),
    ...(latest === undefined ? [] : [tile(latestTitle, latest, { record: warm ?? built, training })]),
  ];
  if (tiles.length === 0)
    return html`<section class="tiles"><p class="empty">No evaluation has finished yet.</p></section>`;
  const joined = tiles.flatMap((one, index) =>
    index === 0 ? [one] : [html`<div class="arrow" aria-hidden="true">→</div>`, one],
  );
  return html`<h2>Held-out accuracy</h2><section class="tiles">${joined}</section>
`;
}

function tile(
  title: string,
  record: EvaluationRecord,
  { record: before, training }: { record?: EvaluationRecord | undefined; training?: string } = {},
): Html {
  const [low, high] = shareInterval(record.accuracy, record.tasks);
  const gain = before === undefined ? undefined : (record.accuracy - before.accuracy) * 100;
  const gained =
    gain === undefined ? "" : `${gain < 0 ? "−" : "+"}${Math.abs(gain).toFixed(1)} points by ${training} · `;
  const detail = `${gained}${counted(record.tasks, "task")}, 95 % interval ${percent(low, 0)} to ${percent(high, 0)}`;
  const value = html`<p class="value">${percent(record.accuracy)}</p>`;
  return html`<div class="tile${before === undefined ? "" : " result"}"><p class="label">${title}</p>${value}<p class="detail">${detail}</p></div>`;
}
