import { messageOf } from "../../base/errors/message-of.ts";
import type { Finding, LedgerEntry, LedgerState } from "../../contracts/ledger.ts";
import { stepOf } from "../../contracts/stages.ts";
import type { DrawnFrom } from "../../plan/tasks/step-indices.ts";
import { loadDataset } from "../../plugin/registry/registry.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { lastRecordedStep } from "../../run/folder/recorded-steps.ts";
import { warmStartKey } from "../../run/store/keys.ts";
import { type RecordReader, trajectoryReader } from "../../run/trajectory/reader.ts";
import { byStage, type Stage, withOthers } from "../../run/trajectory/stages.ts";
import { firstVersion } from "../../run/versions/first-version.ts";
import { isKept } from "../../run/versions/kept-versions.ts";
import { policyPart, trainerPart } from "../../run/versions/version-parts.ts";
import { checkFiles, unreadable } from "./check-files.ts";
import { checkDataCursor } from "./checks/data-cursor.ts";
import { checkEvaluation } from "./checks/evaluations.ts";
import { checkMetrics } from "./checks/metrics.ts";
import { checkObservations } from "./checks/observations.ts";
import { checkServerSteps, type ServedVersion } from "./checks/server-steps.ts";
import { checkTrajectories } from "./checks/trajectories.ts";
import { ledgerEntries } from "./entries.ts";
import { type RunFacts, readRunFacts, readStageFacts } from "./facts.ts";
import { largestStaleness } from "./largest-staleness.ts";
import { lostRecords } from "./lost-records.ts";
import { reservedStages } from "./reservations.ts";
import { type Single, singleTrajectories } from "./single-trajectories.ts";
import { ownSteps } from "./trained-steps.ts";

/**
 * A run's ledger, checked against its files. Its lines are not included, because they are passed on stage by stage.
 */
export interface Ledger {
  run: string;
  stages: StageSummary[];
  /** The versions that a training server made, in order. */
  servedVersions: ServedVersion[];
  /** The problems found; empty if the ledger is consistent. */
  findings: Finding[];
  /** Checks that were impossible, and why. */
  unchecked: string[];
  /**
   * Unreadable files that nothing depends on, because their content was created again or is in a step's file, with
   * the reason.
   */
  replaced: string[];
}

/** The part of a ledger to read. */
export interface LedgerOptions {
  /** Only this step or evaluation. */
  stage?: string | undefined;
  /** Receives the lines of each stage, in order. */
  tell?: (entries: readonly LedgerEntry[]) => void | Promise<void>;
}

/**
 * Reads a run's ledger and checks it against the store, the journal, the versions, metrics.jsonl and the data
 * cursor. It only reads files, one stage at a time, even while the run continues. Its memory grows with the number
 * of problems, not with the number of trajectories.
 */
export async function readLedger(
  run: OpenRun,
  { stage, tell = () => {} }: LedgerOptions = {},
): Promise<Ledger> {
  const reader = trajectoryReader(run);
  const { findings, replaced, unfolded } = await checkFiles(run);
  const facts = await readRunFacts(run);
  const { tasks, unchecked } = await trainingTasks(run);
  const stages: StageSummary[] = [];
  const known = stage === undefined ? await knownStages(run, reader, facts) : [stage];
  const single = byStage(singleTrajectories(run, reader, { stage, unfolded }));
  for await (const one of withOthers(single, known)) {
    const read = await readStage(run, reader, facts, tasks, one);
    findings.push(...read.findings);
    replaced.push(...read.replaced);
    if (read.entries.length === 0) continue;
    await tell(read.entries);
    const evaluation = facts.evaluations.find(({ name }) => name === one.stage);
    const step = facts.uses.counts.get(stepOf(one.stage) ?? 0);
    stages.push(summarize(one.stage, read.entries, (evaluation ?? step)?.policyVersion));
  }
  const servedVersions = await readServedVersions(run, facts);
  findings.push(
    ...checkMetrics(facts),
    ...checkServerSteps(servedVersions),
    ...(await checkVersions(run, () => newestRecorded(run))),
  );
  return { run: run.id, stages, servedVersions, findings, unchecked, replaced };
}

async function readServedVersions({ plan, store }: OpenRun, { uses }: RunFacts): Promise<ServedVersion[]> {
  const { warmStart } = plan;
  const first = warmStart && (await store.treeRecord(warmStartKey(warmStart.steps)))?.value.server;
  const steps = [...uses.counts].flatMap(([step, { policyVersion, server }]) =>
    server === undefined ? [] : [{ version: policyVersion, step, ...server }],
  );
  return first === undefined ? steps : [{ version: 1, ...first }, ...steps];
}

/** Stages that some record names, although they may have no single records. */
async function knownStages(
  { store }: OpenRun,
  reader: RecordReader,
  { uses, evaluations }: RunFacts,
): Promise<string[]> {
  const evaluated = evaluations.map(({ name }) => name);
  return [...uses.stages, ...evaluated, ...(await reader.foldedStages()), ...(await reservedStages(store))];
}

/** The lines of a stage, and its problems. */
async function readStage(
  run: OpenRun,
  reader: RecordReader,
  { metrics, uses, evaluations }: RunFacts,
  tasks: DrawnFrom | undefined,
  single: Stage<Single>,
) {
  const { plan, id } = run;
  const { facts, findings: unlisted } = await readStageFacts(run, reader, uses, single);
  const entries = ledgerEntries(id, facts);
  const recorded = metrics.at(-1)?.step ?? 0;
  const evaluation = evaluations.find(({ name }) => name === single.stage);
  const { findings, replaced } = unreadable(
    run,
    single.items.flatMap(({ corrupt }) => corrupt),
  );
  const { steps } = plan;
  const staleness = largestStaleness(plan);
  const lost = await lostRecords(run.store, single.stage, {
    evaluation,
    newest: metrics.at(-1)?.policyVersion ?? 0,
  });
  const isCommitLost = ownSteps(single.stage, staleness).some(
    (step) => step <= recorded && !uses.counts.has(step),
  );
  const used = checkTrajectories(id, facts, entries, { recorded, steps, staleness });
  findings.push(
    ...lost,
    ...used.filter(({ check }) => !explains(check, { isCommitLost, isFileLost: lost.length > 0 })),
    ...(evaluation === undefined ? [] : checkEvaluation(id, evaluation, facts)),
    ...(tasks === undefined ? [] : checkDataCursor(plan, facts.reservations, { tasks, decided: recorded })),
    ...(await checkObservations(run.store, facts)),
    ...single.items.flatMap((one) => one.findings),
    ...unlisted,
  );
  return { entries, findings, replaced };
}

/** Whether a lost record that is already reported explains a trajectory's apparent gap. */
function explains(
  check: string,
  { isCommitLost, isFileLost }: { isCommitLost: boolean; isFileLost: boolean },
) {
  return check === "unaccounted" ? isCommitLost : check === "record-missing" && isFileLost;
}

async function newestRecorded({ store }: OpenRun): Promise<number | undefined> {
  return (await lastRecordedStep(store))?.policyVersion;
}

/** The set that the data cursor draws from; undefined with a note if it can't be read. */
async function trainingTasks({ plan }: OpenRun): Promise<{ tasks?: DrawnFrom; unchecked: string[] }> {
  const { train } = plan.dataset;
  if (train === undefined) return { unchecked: [] };
  try {
    const tasks = await (await loadDataset(train)).load(train.config);
    return { tasks: tasks.map(({ data_source }) => ({ data_source })), unchecked: [] };
  } catch (error) {
    return { unchecked: [`the data cursor: the training set can't be read: ${messageOf(error)}`] };
  }
}

/**
 * Checks that the versions that a run keeps (checkpoints and the newest ones) exist with policy and trainer state.
 * `current`: the newest recorded version before and after the check, because a running run frees versions.
 */
async function checkVersions(
  { store, plan }: Pick<OpenRun, "store" | "plan">,
  current: () => Promise<number | undefined>,
): Promise<Finding[]> {
  const before = await current();
  if (before === undefined) return [];
  const looked: { version: number; finding: Finding }[] = [];
  for (let version = 0; version <= before; version++) {
    if (!isKept(plan, version, before)) continue;
    const parts = [policyPart, ...(version > firstVersion(plan) ? [trainerPart] : [])];
    for (const { key, part } of parts.map((partOf) => partOf(plan, version))) {
      const isThere = (await store.treeRecord(key)) !== undefined;
      if (isThere && !(await store.isFreed(key, part))) continue;
      const problem = isThere ? "it was removed" : "it is missing";
      looked.push({ version, finding: { check: "version", subject: `${key.tree}, ${part}`, problem } });
    }
  }
  const after = (await current()) ?? before;
  return looked.filter(({ version }) => isKept(plan, version, after)).map(({ finding }) => finding);
}

/** The counts of a step, an evaluation, or forks. */
interface StageSummary extends Record<Exclude<LedgerState, "reserved" | "under way">, number> {
  stage: string;
  /** All of its trajectories, including those that have not begun. */
  reserved: number;
  underWay: number;
  /** The version that a step made, once it is trained, or that an evaluation measured. */
  policyVersion: number | undefined;
}

/** The ledger's counts of a stage. */
function summarize(
  stage: string,
  entries: readonly LedgerEntry[],
  policyVersion: number | undefined,
): StageSummary {
  const count = (...states: LedgerState[]) => entries.filter(({ state }) => states.includes(state)).length;
  return {
    stage,
    reserved: entries.length,
    underWay: count("reserved", "under way"),
    finished: count("finished"),
    trained: count("trained"),
    "left out": count("left out"),
    policyVersion,
  };
}
