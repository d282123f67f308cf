import { defined } from "../src/base/records/defined.ts";
import { instruments } from "../src/base/telemetry/instruments.ts";
import type { RunActivities } from "../src/contracts/activities.ts";
import type { StepRecord } from "../src/contracts/generated/step-record.ts";
import type { StopReason } from "../src/contracts/run.ts";
import { stepValues } from "../src/control/tracking/tracked-values.ts";
import { diagnose } from "../src/results/diagnosis/diagnose.ts";
import { readEvidence } from "../src/results/diagnosis/read-evidence.ts";
import { differencesOfTools } from "../src/results/diagnosis/tool-differences.ts";
import { freeVersions } from "../src/results/retention/free-versions.ts";
import type { Housekeeping } from "../src/results/retention/housekeeping.ts";
import { hostPauses, readHostLines } from "../src/run/folder/host-pauses.ts";
import { writeMetrics } from "../src/run/folder/metrics-view.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";
import { readStops } from "../src/run/folder/sessions.ts";
import { actionNumbers, countActions } from "../src/run/projections/action-numbers.ts";
import { commonObservation } from "../src/run/projections/common-observation.ts";
import { meanMetrics } from "../src/run/projections/metrics.ts";
import { shownAnswers } from "../src/run/projections/shown-answers.ts";
import { recordedStepKey } from "../src/run/store/keys.ts";
import { recordedOnce } from "../src/run/trajectory/journal.ts";
import { readTrajectories } from "../src/run/trajectory/trajectory-files.ts";
import { trajectoryOf } from "../src/run/trajectory/trajectory-of.ts";

/**
 * Records a step once, also in `metrics.jsonl` for people to read. Deletes versions that are neither
 * checkpoints nor recent.
 */
export function recordStep(
  openRun: (run: string) => Promise<OpenRun>,
  { add }: Pick<Housekeeping, "add">,
): RunActivities["record-step"] {
  const gauges = instruments().measured;
  return async ({ run, record, finished, clock }) => {
    const opened = await openRun(run);
    const { folder, plan, store } = opened;
    const { step } = record;
    const whole = async () => {
      const seconds = await worked(folder, record, clock);
      const pauses = await pausedHosts(folder, clock);
      return measured(opened, defined({ ...record, seconds, hostPauses: pauses }), finished);
    };
    const first = await recordedOnce(store, recordedStepKey(step), whole, { flush: true });
    await writeMetrics({ folder, store }, step);
    for (const [name, value] of Object.entries(stepValues(first))) gauges.record(value, { name, run });
    await freeVersions({ plan, store }, { last: step, from: first.policyVersion - 4 });
    add(opened, step);
    return stopReason(opened, first);
  };
}

/** The first condition of `stopIf` that holds after a step; undefined if none does. */
async function stopReason(run: OpenRun, record: StepRecord): Promise<StopReason | undefined> {
  const { stopIf = [] } = run.plan;
  if (stopIf.length === 0) return undefined;
  const found = diagnose(await readEvidence(run, record)).find(({ condition }) => stopIf.includes(condition));
  return found && { condition: found.condition, evidence: found.evidence, remedy: found.remedies[0] ?? "" };
}

/** A step's times without the time during which nothing worked on the run. */
async function worked(
  folder: OpenRun["folder"],
  { seconds }: StepRecord,
  clock: readonly number[] | undefined,
): Promise<StepRecord["seconds"]> {
  if (clock === undefined) return seconds;
  const stopped = await readStops(folder);
  const phases = (["rollout", "train", "publish"] as const).slice(1 - clock.length);
  const result = { ...seconds };
  for (const [index, phase] of phases.entries()) {
    const away = stopped(clock[index] ?? 0, clock[index + 1] ?? 0) / 1000;
    result[phase] = Math.max(0, result[phase] - away);
    result.total = Math.max(0, result.total - away);
  }
  return result;
}

/** For how long hosts of tools and rewards were paused during a step's rollouts; undefined if none was. */
async function pausedHosts(
  folder: OpenRun["folder"],
  clock: readonly number[] = [],
): Promise<StepRecord["hostPauses"]> {
  const [from, to] = clock;
  if (from === undefined || to === undefined) return undefined;
  const pauses = hostPauses(await readHostLines(folder), from, to);
  return Object.keys(pauses).length === 0 ? undefined : pauses;
}

/** The record, with what only the texts of the finished trajectories show. */
async function measured(
  run: Pick<OpenRun, "plan" | "store">,
  record: StepRecord,
  finished: readonly string[],
): Promise<StepRecord> {
  const places = finished.map(trajectoryOf);
  const records = await readTrajectories(run.store, places);
  if (records.length === 0) return record;
  const metrics = meanMetrics(records.map((one) => one.metrics));
  return defined({
    ...record,
    ...actionNumbers(records.map(countActions)),
    commonObservation: commonObservation(records),
    ...shownAnswers(records),
    toolDifferences: await differencesOfTools(run, places),
    metrics,
  });
}
