import { setTimeout as sleep } from "node:timers/promises";
import type { WorkflowHandle } from "@temporalio/client";
import type { RunProgress, StageProgress } from "../contracts/run.ts";
import { readLines } from "../files/line-file.ts";
import { withOwnSignal } from "../promises/abort-signals.ts";
import { lastRecordedStep, recordedSteps } from "../runs/recorded-steps.ts";
import type { Store } from "../store/store.ts";
import type { RunSession } from "../supervision/session.ts";
import { waitingCount } from "../temporal/live-trajectories.ts";
import type { HostChange } from "../tools/breaker.ts";
import { hostLine } from "./host-line.ts";
import type { createView } from "./live-view.ts";

const interval = 1000;

/** Shows a run's progress as it happens: asks the training workflow every second, and reads what steps recorded. */
export function follow(
  { run, folder, client, waits }: RunSession,
  store: Pick<Store, "read" | "has">,
  handle: WorkflowHandle,
  view: ReturnType<typeof createView>,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let shown: number | undefined;
  let isTold = false;
  let hostChanges: number | undefined;

  async function showRecords(): Promise<void> {
    shown ??= Math.max(0, ((await lastRecordedStep(store))?.step ?? 0) - 1); // a resumed run does not print its past
    for (const record of await recordedSteps(store, shown)) {
      view.record(record);
      shown = record.step;
    }
    const changes = await readLines<HostChange>(folder.hosts);
    hostChanges ??= changes.length;
    for (const change of changes.slice(hostChanges)) view.note(hostLine(change));
    hostChanges = changes.length;
  }

  /** Of what has children: a run of 0.3 still names the last one during its warm start. */
  async function childProgress({ phase, child }: RunProgress): Promise<StageProgress | undefined> {
    if (child === undefined || (phase !== "evaluate" && phase !== "step")) return undefined;
    return client.workflow.getHandle(child).query<StageProgress>("progress");
  }

  async function showProgress(): Promise<void> {
    const progress = await handle.query<RunProgress>("progress");
    const child = await childProgress(progress);
    const waiting = await waitingCount(client, run);
    if (stopping.signal.aborted) return;
    if (waiting > 0 && !isTold) view.note(`trajectories wait for a person: npx everturn approvals ${run}`);
    isTold ||= waiting > 0;
    view.progress(progress, child, waiting);
  }

  const { signal } = stopping;
  // Apart from the rest, which waits for workers to answer queries.
  const showing = setInterval(() => view.waits(waits()), interval);

  const following = (async () => {
    while (!signal.aborted) {
      await showRecords();
      // A view may miss a beat: the workflow's own errors end the run.
      await withOwnSignal(signal, (own) => client.withAbortSignal(own, showProgress)).catch(() => {});
      await sleep(interval, undefined, { signal }).catch(() => {});
    }
    await showRecords();
  })();
  following.catch(() => {}); // told by stop()

  return {
    stop: async () => {
      stopping.abort();
      clearInterval(showing);
      await following;
    },
  };
}
