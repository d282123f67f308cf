import { setTimeout as sleep } from "node:timers/promises";
import type { WorkflowHandle } from "@temporalio/client";
import { withOwnSignal } from "../../base/async/abort-signals.ts";
import { duration } from "../../base/text/format.ts";
import type { EvaluationRecord, RunProgress, StageProgress } from "../../contracts/run.ts";
import type { ToolHostChange, ToolHostLine } from "../../contracts/tool-host-change.ts";
import type { Evidence } from "../../results/diagnosis/condition.ts";
import { type Diagnosis, diagnose, diagnosisOf } from "../../results/diagnosis/diagnose.ts";
import { readEarlyEvidence, readEvidence } from "../../results/diagnosis/read-evidence.ts";
import { ownEvaluations } from "../../run/folder/evaluations.ts";
import { readHostLines } from "../../run/folder/host-pauses.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { recordedSteps } from "../../run/folder/recorded-steps.ts";
import { firstVersion } from "../../run/versions/first-version.ts";
import type { SupervisedRun } from "../supervision/supervised-run.ts";
import { waitingCount } from "../temporal/live-trajectories.ts";
import { progressEvent, type RunEvent } from "./events.ts";
import type { Past } from "./past.ts";

/** Ms between two reads of the records. */
const interval = 1000;

/**
 * The number of looks after a worker's last progress at which workflows are queried every time, because they
 * continue after it. Later, only every n-th look queries them.
 */
const [restless, still] = [3, 4];

/** A host that is paused for this many seconds is a diagnosis, although the step that waits for it has not ended. */
const longPause = 30;

/**
 * Reports a run's progress as it happens, but not its past. It reads recorded steps every second, and queries the
 * training workflow as often while something moves, else every four seconds.
 */
export function follow(
  { run, named, folder, client, waits, progress: done }: SupervisedRun,
  { store, plan }: Pick<OpenRun, "store" | "plan">,
  past: Past,
  handle: WorkflowHandle,
  tell: (event: RunEvent) => void,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const note = (text: string) => tell({ type: "note", text });
  const last = past.steps.at(-1);
  const begun = last?.policyVersion ?? 0;
  // Of the newest recorded step; before the first, the version that it begins with.
  let [shown, version] = [last?.step ?? 0, last?.policyVersion ?? firstVersion(plan)];
  let evaluated = past.evaluations.at(-1)?.policyVersion ?? -1; // the newest version whose evaluation was reported
  let isTold = false;
  let hostChanges: number | undefined;
  const paused = new Map<string, ToolHostLine>(); // hosts whose calls wait, with the beginning of their pause
  const diagnosed = new Set<string>(); // conditions that have been reported
  let told = "";

  /** Reports new records. Returns whether there were any. */
  async function tellRecords(): Promise<boolean> {
    const records = await recordedSteps(store, shown);
    for (const record of records) {
      await tellOwnEvaluations(version); // they ended before this step
      tell({ type: "step", record });
      tellDiagnoses(await readEvidence({ plan, store }, record));
      shown = record.step;
      version = record.policyVersion;
    }
    await tellHosts();
    return records.length > 0;
  }

  async function tellHosts(): Promise<void> {
    const changes = await readHostLines(folder);
    hostChanges ??= changes.length;
    for (const change of changes.slice(hostChanges)) {
      note(hostLine(change));
      if (change.state === "paused") paused.set(change.host, change);
      else paused.delete(change.host);
    }
    hostChanges = changes.length;
    for (const { host, at, reason } of paused.values()) {
      const seconds = (Date.now() - Date.parse(at)) / 1000;
      if (seconds < longPause) continue;
      const evidence = `the host ${host} has been paused for ${duration(seconds)}: ${reason.replace(/\.$/, "")}`;
      tellDiagnosis(diagnosisOf("paused-hosts", shown + 1, evidence));
    }
  }

  function tellDiagnoses(evidence: Evidence): void {
    for (const diagnosis of diagnose(evidence)) tellDiagnosis(diagnosis);
  }

  function tellDiagnosis(diagnosis: Diagnosis): void {
    if (diagnosed.has(diagnosis.condition)) return;
    diagnosed.add(diagnosis.condition);
    tell({ type: "diagnosis", diagnosis });
  }

  async function tellEvaluations(records: readonly EvaluationRecord[]): Promise<void> {
    for (const record of records) {
      if (record.policyVersion <= evaluated) continue;
      tell({ type: "evaluation", record });
      evaluated = record.policyVersion;
      if (record.step === 0) tellDiagnoses(await readEarlyEvidence({ plan, store }));
    }
  }

  /** Reports recorded evaluations up to a version. */
  async function tellOwnEvaluations(newest: number): Promise<void> {
    await tellEvaluations(await ownEvaluations({ store, plan }, newest, Math.max(evaluated, begun - 1)));
  }

  /** The progress of the current evaluation or step; undefined if there is none. */
  async function childProgress({ child }: RunProgress): Promise<StageProgress | undefined> {
    if (child === undefined) return undefined;
    return client.workflow.getHandle(child).query<StageProgress>("progress");
  }

  async function tellProgress(): Promise<void> {
    const progress = await handle.query<RunProgress>("progress");
    const child = await childProgress(progress);
    const waiting = await waitingCount(client, run);
    if (stopping.signal.aborted) return;
    if (waiting > 0 && !isTold)
      note(`trajectories are waiting for a person: npx everturn approvals ${named}`);
    isTold ||= waiting > 0;
    await tellEvaluations(progress.evaluations);
    tell(progressEvent(progress, child, waiting));
  }

  function tellWaits(): void {
    const lines = waits();
    if (lines.join("\n") !== told) tell({ type: "waits", lines });
    told = lines.join("\n");
  }

  const { signal } = stopping;
  // Separate from the rest, which waits for workers to answer queries.
  const telling = setInterval(tellWaits, interval);

  const following = (async () => {
    let quiet = 0; // looks since then
    while (!signal.aborted) {
      const before = done();
      if (await tellRecords()) quiet = 0;
      // A query costs the worker and the server some milliseconds.
      if (quiet < restless || quiet % still === 0) {
        // One may fail: the workflow's own errors end the run.
        await withOwnSignal(signal, (own) => client.withAbortSignal(own, tellProgress)).catch(() => {});
      }
      await sleep(interval, undefined, { signal }).catch(() => {});
      quiet = done() === before ? quiet + 1 : 0;
    }
    await tellRecords();
    await tellOwnEvaluations(version); // several may have ended between two looks
  })();
  following.catch(() => {}); // stop() reports it

  return {
    stop: async () => {
      stopping.abort();
      clearInterval(telling);
      await following;
    },
  };
}

/** A line about a tool host that was paused, has recovered, or was given up. */
function hostLine({ host, state, reason, seconds }: ToolHostChange): string {
  switch (state) {
    case "paused":
      return [
        `the tool host ${host} keeps failing; its calls wait for up to hosts.${host}.patience: ${reason}`,
        "If a tool throws because of the model's input, return { text, error: true } instead.",
      ].join(". ");
    case "resumed":
      return `the tool host ${host} works again after ${duration(seconds)}`;
    case "down":
      return `the tool host ${host} has been down for ${duration(seconds)}; calls that wait for it fail: ${reason}`;
  }
}
