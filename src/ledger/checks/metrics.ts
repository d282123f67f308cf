import type { Finding } from "../../contracts/ledger.ts";
import type { LedgerFacts } from "../facts.ts";

/** Whether the lines of metrics.jsonl and the records of the trained steps tell the same. */
export function checkMetrics({ metrics, trained }: Pick<LedgerFacts, "metrics" | "trained">): Finding[] {
  const findings: Finding[] = [];
  const report = (step: number, problem: string) =>
    findings.push({ check: "metrics", subject: `step ${step}`, problem });
  for (const [index, line] of metrics.entries()) {
    const { step, policyVersion, trajectories } = line;
    const before = metrics[index - 1];
    if (step !== index + 1) report(step, `it is line ${index + 1} of metrics.jsonl`);
    if (before !== undefined && policyVersion !== before.policyVersion + 1) {
      report(step, `made version ${policyVersion} after version ${before.policyVersion}`);
    }
    const record = trained.get(step);
    if (record === undefined) {
      report(step, `stands in metrics.jsonl, but steps/train-${step}.json is missing`);
      continue;
    }
    if (record.policyVersion !== policyVersion) {
      report(step, `made version ${record.policyVersion}, metrics.jsonl says ${policyVersion}`);
    }
    if (record.trajectories !== undefined && record.trajectories.length !== trajectories) {
      report(
        step,
        `trained on ${record.trajectories.length} trajectories, metrics.jsonl says ${trajectories}`,
      );
    }
    if (record.leftOut !== undefined && record.leftOut.length < line.leftOut) {
      report(step, `left out ${record.leftOut.length} trajectories, metrics.jsonl says ${line.leftOut}`);
    }
  }
  const last = metrics.at(-1)?.step ?? 0;
  for (const step of trained.keys()) {
    // The newest step is recorded a moment after it is trained.
    if (step > last + 1) report(step, `is trained, but step ${step - 1} is not in metrics.jsonl`);
  }
  return findings;
}
