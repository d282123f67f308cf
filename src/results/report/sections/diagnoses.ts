import { type Diagnosis, diagnoseRun } from "../../diagnosis/diagnose.ts";
import { type Html, html, nothing } from "../html.ts";
import type { ReportData } from "../read-run.ts";

/** The conditions in which the run did not learn, each once, with what to try; nothing if there are none. */
export function diagnoses(data: ReportData): Html {
  return diagnosisCards(diagnoseRun(data));
}

/** These diagnoses under a heading; nothing if there are none. */
export function diagnosisCards(found: readonly Diagnosis[]): Html {
  if (found.length === 0) return nothing;
  return html`<h2>Diagnoses</h2><div class="diagnoses">${found.map(card)}</div>
`;
}

function card({ condition, title, step, evidence, consequence, remedies }: Diagnosis): Html {
  const tries = remedies.map((remedy) => html`<li>${remedy.replaceAll("`", "")}</li>`);
  const when = step === 0 ? "before the first step" : `step ${step}`;
  return html`<article class="card diagnosis" id="${condition}"><p class="label">${condition}, ${when}</p><h3>${title}</h3><p>${evidence}.</p><p class="consequence">${consequence}</p><p class="label">What to try</p><ul>${tries}</ul></article>`;
}
