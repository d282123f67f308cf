import { dirname } from "node:path";
// biome-ignore lint/style/noRestrictedImports: metrics.jsonl, for people
import { wholeLines } from "../../base/files/line-file.ts";
import { patiently } from "../../base/files/patiently.ts";
import type { FinishedTrajectory } from "../../contracts/folded-step.ts";
import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { Finding, Reservation } from "../../contracts/ledger.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import { trajectoryId } from "../../contracts/trajectory-id.ts";
import { otherEvaluations, ownEvaluations } from "../../run/folder/evaluations.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { recordedSteps } from "../../run/folder/recorded-steps.ts";
import { readRunFile } from "../../run/folder/run-file.ts";
import { type TrajectoryName, trajectoryPrefix, turnKey } from "../../run/store/keys.ts";
import type { RecordReader } from "../../run/trajectory/reader.ts";
import type { Stage } from "../../run/trajectory/stages.ts";
import { trajectoryOf } from "../../run/trajectory/trajectory-of.ts";
import { largestStaleness } from "./largest-staleness.ts";
import { readReservations, reservedTrajectories } from "./reservations.ts";
import { chainFindings, type Single } from "./single-trajectories.ts";
import { readUses, type StageUse, type Uses } from "./trained-steps.ts";

/** A run's recorded facts, apart from its stages' trajectories. */
export interface RunFacts {
  /** The recorded steps. */
  metrics: StepRecord[];
  /** The lines of `metrics.jsonl`; absent in a bucket, because each machine has the lines that it wrote. */
  view: string[] | undefined;
  uses: Uses;
  evaluations: EvaluationRecord[];
}

/** The recorded facts about the trajectories of one stage. */
export interface StageFacts {
  stage: string;
  reservations: Reservation[];
  /** The existing trajectories by id; undefined for one in progress. */
  trajectories: ReadonlyMap<string, FinishedTrajectory | undefined>;
  /** How steps used them, by step. */
  uses: ReadonlyMap<number, StageUse>;
}

/**
 * Reads a run's facts, even while it continues. It reads first the records that are written last, so that it also
 * sees everything that they depend on.
 */
export async function readRunFacts(run: OpenRun): Promise<RunFacts> {
  const { folder, store, plan } = run;
  const { store: address } = await readRunFile(dirname(folder.root), run.id, () => {}); // reported when it was opened
  const view = address === undefined ? await patiently(() => wholeLines(folder.metrics)) : undefined;
  const metrics = await recordedSteps(store);
  const uses = await readUses(run, largestStaleness(plan));
  const own = await ownEvaluations(run, metrics.at(-1)?.policyVersion ?? 1);
  const evaluations = [...own, ...(await otherEvaluations(run, own))];
  return { metrics, view, uses, evaluations };
}

/**
 * Combines the facts about a stage from its `single` trajectories, those in files, and known names that a listing
 * does not contain yet. It checks the segments of the latter.
 */
export async function readStageFacts(
  { id: run, store }: OpenRun,
  reader: RecordReader,
  uses: Uses,
  { stage, items: single }: Stage<Single>,
): Promise<{ facts: StageFacts; findings: Finding[] }> {
  const idOf = ({ task, sample }: TrajectoryName) => trajectoryId({ run, stage, task, sample });
  const trajectories = new Map<string, FinishedTrajectory | undefined>();
  for (const { name, finished } of single) if (name !== undefined) trajectories.set(idOf(name), finished);
  for (const folded of await reader.folded(stage)) trajectories.set(idOf(folded), folded);
  const used = await uses.of(stage);
  const reservations = await readReservations(store, stage);
  const findings: Finding[] = [];
  const members = [...used.values()].flatMap((use) => use.trajectories.map(({ trajectory }) => trajectory));
  for (const id of [...reservedTrajectories(run, reservations), ...members]) {
    if (trajectories.has(id)) continue;
    const name = trajectoryOf(id);
    const finished = await reader.finished(name);
    if (finished === undefined && !(await store.has(turnKey(name, 1)))) continue;
    trajectories.set(id, finished);
    if ((await reader.foldedIn(trajectoryPrefix(name).prefix)) === undefined)
      findings.push(...(await chainFindings(reader, run, name, finished)));
  }
  return { facts: { stage, reservations, trajectories, uses: used }, findings };
}
