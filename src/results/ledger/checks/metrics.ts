import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import type { Finding } from "../../../contracts/ledger.ts";
import type { RunFacts } from "../facts.ts";

/** Checks that the recorded steps, the trained steps and the lines of metrics.jsonl agree. */
export function checkMetrics({
  metrics,
  view,
  uses: { counts: trained },
}: Pick<RunFacts, "metrics" | "view" | "uses">): Finding[] {
  const findings: Finding[] = [...(view === undefined ? [] : checkView(metrics, view))];
  const report = (step: number, problem: string) =>
    findings.push({ check: "metrics", subject: `step ${step}`, problem });
  for (const [index, line] of metrics.entries()) {
    const { step, policyVersion, trajectories } = line;
    const before = metrics[index - 1];
    if (step !== index + 1) report(step, `it is the ${index + 1}th that was recorded`);
    if (before !== undefined && policyVersion !== before.policyVersion + 1) {
      report(step, `made version ${policyVersion} after version ${before.policyVersion}`);
    }
    const record = trained.get(step);
    if (record === undefined) {
      const isNewest = index === metrics.length - 1;
      const remedy = isNewest ? "`npx everturn resume` repeats the step" : "restore it from a backup";
      report(step, `is recorded, but steps/${step}/trained.json is missing or damaged; ${remedy}`);
      continue;
    }
    if (record.policyVersion !== policyVersion) {
      report(step, `made version ${record.policyVersion}, it is recorded with ${policyVersion}`);
    }
    if (record.trajectories !== trajectories) {
      report(step, `trained on ${record.trajectories} trajectories, it is recorded with ${trajectories}`);
    }
    if (record.leftOut < line.leftOut) {
      report(step, `left out ${record.leftOut} trajectories, it is recorded with ${line.leftOut}`);
    }
  }
  const last = metrics.at(-1)?.step ?? 0;
  for (const step of trained.keys()) {
    // The newest step is recorded a moment after it is trained.
    if (step > last + 1) report(step, `is trained, but step ${step - 1} is not recorded`);
  }
  return findings;
}

/**
 * Checks that metrics.jsonl has a line for each recorded step, and no other. The newest one's may be missing for a
 * moment.
 */
function checkView(metrics: readonly StepRecord[], view: readonly string[]): Finding[] {
  const wrong = view.findIndex((line, index) => line !== JSON.stringify(metrics[index]));
  const missing = wrong < 0 && view.length < metrics.length - 1 ? view.length : wrong;
  if (missing < 0) return [];
  const problem = `its line ${missing + 1} differs from the recorded one; delete the file, and the next step writes it again`;
  return [{ check: "metrics", subject: "metrics.jsonl", problem }];
}
