import type { Finding } from "../../../contracts/ledger.ts";
import type { EvaluationRecord } from "../../../contracts/run.ts";
import { knownTrajectories } from "../entries.ts";
import type { StageFacts } from "../facts.ts";

/** Checks that a recorded evaluation has all of its trajectories, and that its accuracy follows from them. */
export function checkEvaluation(
  run: string,
  { name, tasks, samples = 1, leftOut, accuracy }: EvaluationRecord,
  facts: StageFacts,
): Finding[] {
  const findings: Finding[] = [];
  const report = (subject: string, problem: string) =>
    findings.push({ check: "evaluation", subject, problem });
  const ids = [...knownTrajectories(run, facts)];
  const records = ids.map((id) => facts.trajectories.get(id));
  for (const [index, id] of ids.entries()) {
    if (records[index] === undefined) report(id, "its evaluation is recorded, but it has no trajectory.json");
  }
  const finished = records.filter((record) => record !== undefined);
  const all = tasks * samples;
  if (ids.length !== all) {
    const said = samples === 1 ? `${tasks} tasks` : `${tasks} tasks of ${samples} samples`;
    report(name, `it says ${said}, but has ${ids.length} trajectories`);
  }
  const without = finished.filter(({ outcome }) => outcome === "left-out").length;
  if (without !== leftOut) report(name, `it says ${leftOut} left out, its trajectories say ${without}`);
  const solved = finished.filter(({ success }) => success).length;
  if (all > 0 && Math.abs(solved / all - accuracy) > 1e-9) {
    report(name, `its accuracy is ${accuracy}, but ${solved} of ${all} trajectories are solved`);
  }
  return findings;
}
