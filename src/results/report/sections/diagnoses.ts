import { type Diagnosis, diagnoseRun } from "../../diagnosis/diagnose.ts";
import { type Html, html, nothing, prose } from "../html.ts";
import type { RunData } from "../read-run.ts";

/** The conditions in which the run did not learn, each once, with what to try; nothing if there are none. */
export function diagnoses(data: RunData): Html {
  return diagnosisCards(diagnoseRun(data));
}

/** These diagnoses under a heading; nothing if there are none. */
export function diagnosisCards(found: readonly Diagnosis[]): Html {
  if (found.length === 0) return nothing;
  return html`<h2>Diagnoses</h2><div class="diagnoses">${found.map(card)}</div>
`;
}

function card({ condition, title, step, evidence, consequence, remedies }: Diagnosis): Html {
  const tries = remedies.map((remedy) => html`<li>${prose(remedy)}</li>`);
  const when = step === 0 ? "before the first step" : `step ${step}`;
  return html`<article class="card diagnosis" id="${condition}"><p class="label">${condition}, ${when}</p><h3>${title}</h3><p>${sentence(evidence)}</p><p class="consequence">${consequence}</p><p class="label">What to try</p><ul>${tries}</ul></article>`;
}

/** A text that begins with a capital letter and ends with one period. */
function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
}
