import type { FinishedTrajectory } from "../../../contracts/folded-step.ts";
import type { BatchMember, Finding, LedgerEntry } from "../../../contracts/ledger.ts";
import { stepOf } from "../../../contracts/stages.ts";
import type { StageFacts } from "../facts.ts";
import { reservedTrajectories } from "../reservations.ts";

/** Checks that each trajectory of a stage was used once: trained on by one step, or left out with a reason. */
export function checkTrajectories(
  run: string,
  facts: StageFacts,
  entries: readonly LedgerEntry[],
  { recorded, staleness, steps }: { recorded: number; staleness: number; steps: number },
): Finding[] {
  const step = stepOf(facts.stage);
  const isDecided = step !== undefined && (step + staleness <= recorded || recorded === steps);
  const reserved = new Set(reservedTrajectories(run, facts.reservations));
  const unaccounted = entries
    .filter(({ state }) => isDecided && state !== "trained" && state !== "left out")
    .filter(({ trajectory, state }) => reserved.has(trajectory) || state === "finished")
    .map(({ trajectory, state }) =>
      found("unaccounted", trajectory, `it is ${state}, but no step trained on it or left it out`),
    );
  return [...unaccounted, ...checkUse(facts, reserved)];
}

/** Compares the trajectories that each step lists as trained with the trajectories' own records. */
function checkUse({ stage, uses, trajectories }: StageFacts, reserved: ReadonlySet<string>): Finding[] {
  const findings: Finding[] = [];
  const users = new Map<string, number>();
  for (const [step, { trajectories: members, leftOut }] of uses) {
    for (const member of members) {
      const { trajectory } = member;
      const before = users.get(trajectory);
      if (before !== undefined) {
        findings.push(found("trained-twice", trajectory, `steps ${before} and ${step} trained on it`));
      }
      users.set(trajectory, step);
      if (!reserved.has(trajectory)) {
        findings.push(
          found("not-reserved", trajectory, `step ${step} trained on it, but it was never admitted`),
        );
      }
      if (stepOf(stage) === undefined) {
        findings.push(
          found("not-for-training", trajectory, `step ${step} trained on a trajectory of ${stage}`),
        );
      }
      findings.push(...checkMember(step, member, trajectories.get(trajectory)));
    }
    for (const { trajectory, reason } of leftOut) {
      if (reason === "")
        findings.push(found("no-reason", trajectory, `step ${step} left it out, but not why`));
    }
  }
  for (const [step, { leftOut }] of uses) {
    for (const { trajectory } of leftOut) {
      const user = users.get(trajectory);
      if (user === undefined) continue;
      findings.push(found("both", trajectory, `step ${step} left it out, and step ${user} trained on it`));
    }
  }
  return findings;
}

function checkMember(step: number, member: BatchMember, record?: FinishedTrajectory): Finding[] {
  const { trajectory, head, reward } = member;
  if (record === undefined) {
    return [found("record-missing", trajectory, `step ${step} trained on it, but it has no trajectory.json`)];
  }
  const findings: Finding[] = [];
  if (record.outcome === "left-out") {
    findings.push(found("both", trajectory, `step ${step} trained on it, but its record says left-out`));
  }
  if (record.head !== head) {
    findings.push(
      found("head", trajectory, `step ${step} trained up to ${head}, its record ends with ${record.head}`),
    );
  }
  if (record.reward !== reward) {
    findings.push(
      found("reward", trajectory, `step ${step} trained with ${reward}, its record says ${record.reward}`),
    );
  }
  return findings;
}

function found(check: string, subject: string, problem: string): Finding {
  return { check, subject, problem };
}
