import type { Finding, LedgerEntry } from "../contracts/ledger.ts";
import { stepOf } from "../contracts/stages.ts";
import { isEverturnError } from "../errors/everturn-error.ts";
import { messageOf } from "../errors/message-of.ts";
import { loadDataset } from "../plugins/registry.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { lastRecordedStep } from "../runs/recorded-steps.ts";
import { trajectoryPrefix } from "../store/keys.ts";
import { type TrajectoryReader, trajectoryReader } from "../trajectory/reader.ts";
import { trajectoryOf } from "../trajectory/trajectory-of.ts";
import { checkChains } from "./check-chains.ts";
import { checkFiles } from "./check-files.ts";
import { checkVersions } from "./check-versions.ts";
import { checkDataCursor } from "./checks/data-cursor.ts";
import { checkEvaluations } from "./checks/evaluations.ts";
import { checkMetrics } from "./checks/metrics.ts";
import { checkTrajectories } from "./checks/trajectories.ts";
import { ledgerEntries } from "./entries.ts";
import { type LedgerFacts, readLedgerFacts } from "./facts.ts";
import { largestStaleness } from "./largest-staleness.ts";
import { type StageSummary, summarize } from "./summary.ts";

/** A run's ledger, checked against its files. */
export interface Ledger {
  run: string;
  stages: StageSummary[];
  entries: LedgerEntry[];
  /** What is wrong; nothing if the ledger holds. */
  findings: Finding[];
  /** What could not be checked, and why. */
  unchecked: string[];
  /** Files that can't be read and that nothing reads: their content was made again, or is in a step's file. And why. */
  replaced: string[];
}

/**
 * Reads a run's ledger and checks it against the store, the journal, the versions, metrics.jsonl and the data cursor.
 * It reads files alone, also while the run goes on. `stage`: of one step or evaluation only.
 */
export async function readLedger(run: OpenRun, stage?: string): Promise<Ledger> {
  const reader = trajectoryReader(run);
  const files = await checkFiles(run, reader, stage);
  let facts: LedgerFacts;
  try {
    facts = await readLedgerFacts(run, reader, stage);
  } catch (error) {
    if (!isEverturnError(error) || error.code !== "RECORD_CORRUPT") throw error;
    const { file = "", reason = "" } = error.params;
    const finding = { check: "record", subject: String(file), problem: `it can't be read: ${reason}` };
    const empty = { run: run.id, stages: [], entries: [], unchecked: [] };
    return { ...empty, findings: [finding, ...files.findings], replaced: files.replaced };
  }
  const shown = stage === undefined ? facts : ofStage(facts, stage);
  const { unchecked, findings: cursor } = await checkCursor(run, facts);
  const entries = ledgerEntries(run.id, shown).filter(
    (entry) => stage === undefined || entry.stage === stage,
  );
  const whole = new Set(entries.map(({ trajectory }) => trajectory));
  const finished = [...facts.trajectories].flatMap(([id, record]) =>
    whole.has(id) && record !== undefined && record.outcome !== "left-out" ? [[id, record] as const] : [],
  );
  const { steps } = run.plan;
  const findings = [
    ...checkTrajectories(run.id, shown, { steps, staleness: largestStaleness(run.plan) }),
    ...checkMetrics(facts),
    ...checkEvaluations(run.id, shown),
    ...cursor,
    ...(await checkVersions(run, () => newestRecorded(run))),
    ...files.findings,
    ...(await checkChains(reader, await withoutFolded(reader, finished))),
  ];
  return {
    run: run.id,
    stages: summarize(entries, facts),
    entries,
    findings,
    unchecked,
    replaced: files.replaced,
  };
}

/** What is in a step's file was checked when it was put there, and the file has a digest. */
async function withoutFolded<Value>(
  reader: TrajectoryReader,
  finished: readonly (readonly [id: string, Value])[],
): Promise<(readonly [string, Value])[]> {
  const single: (readonly [string, Value])[] = [];
  for (const one of finished) {
    const { prefix } = trajectoryPrefix(trajectoryOf(one[0]));
    if ((await reader.foldedIn(prefix)) === undefined) single.push(one);
  }
  return single;
}

/** What concerns one stage: only its trajectories were read. */
function ofStage(facts: LedgerFacts, stage: string): LedgerFacts {
  const prefix = `/${stage}/`;
  const trained = [...facts.trained].map(([step, record]) => {
    const members = record.trajectories?.filter(({ trajectory }) => trajectory.includes(prefix));
    const leftOut = record.leftOut?.filter(({ trajectory }) => trajectory.includes(prefix));
    return [
      step,
      { ...record, ...(members && { trajectories: members }), ...(leftOut && { leftOut }) },
    ] as const;
  });
  const evaluations = facts.evaluations.filter(({ name }) => name === stage);
  return { ...facts, evaluations, trained: new Map(trained) };
}

async function newestRecorded({ store }: OpenRun): Promise<number | undefined> {
  return (await lastRecordedStep(store))?.policyVersion;
}

async function checkCursor(
  { plan }: OpenRun,
  { reservations, metrics, trajectories }: LedgerFacts,
): Promise<{ findings: Finding[]; unchecked: string[] }> {
  const unchecked: string[] = [];
  const reserved = new Set(reservations.map(({ stage }) => stage));
  const stages = new Set([...trajectories.keys()].map((id) => id.split("/")[1] ?? ""));
  const older = [...stages].filter((stage) => stepOf(stage) !== undefined && !reserved.has(stage)).sort();
  if (older.length > 0) {
    const named = older.length > 2 ? `${older[0]} to ${older.at(-1)}` : older.join(" and ");
    unchecked.push(
      `${named}: Everturn 0.2 and earlier kept no reservations, so a trajectory that never started can't be missed`,
    );
  }
  let length: number;
  try {
    const { train } = plan.dataset;
    length = (await (await loadDataset(train)).load(train.config)).length;
  } catch (error) {
    const reason = messageOf(error);
    return {
      findings: [],
      unchecked: [...unchecked, `the data cursor: the training set can't be read: ${reason}`],
    };
  }
  const decided = metrics.at(-1)?.step ?? 0;
  return { findings: checkDataCursor(plan, reservations, { length, decided }), unchecked };
}
