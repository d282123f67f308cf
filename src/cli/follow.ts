import { setTimeout as sleep } from "node:timers/promises";
import type { WorkflowHandle } from "@temporalio/client";
import type { StepRecord } from "../contracts/generated/step-record.ts";
import type { RunProgress } from "../contracts/run.ts";
import { readLines } from "../runs/files.ts";
import type { RunSession } from "../temporal/session.ts";
import type { createView } from "./live-view.ts";

const interval = 1000;

/** Shows a run's progress as it happens: asks the training workflow every second, and reads new metrics lines. */
export function follow(
  { folder, client }: RunSession,
  handle: WorkflowHandle,
  view: ReturnType<typeof createView>,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let shown: number | undefined;

  async function showRecords(): Promise<void> {
    const records = await readLines<StepRecord>(folder.metrics);
    shown ??= Math.max(0, records.length - 1); // a resumed run does not print its past
    for (const record of records.slice(shown)) view.record(record);
    shown = records.length;
  }

  async function showProgress(): Promise<void> {
    const progress = await handle.query<RunProgress>("progress");
    const child =
      progress.child === undefined
        ? undefined
        : await client.workflow.getHandle(progress.child).query<{ done: number; of: number }>("progress");
    if (!stopping.signal.aborted) view.progress(progress, child);
  }

  const { signal } = stopping;

  const following = (async () => {
    while (!signal.aborted) {
      await showRecords();
      // A view may miss a beat: the workflow's own errors end the run.
      await client.withAbortSignal(signal, showProgress).catch(() => {});
      await sleep(interval, undefined, { signal }).catch(() => {});
    }
    await showRecords();
  })();
  following.catch(() => {}); // told by stop()

  return {
    stop: async () => {
      stopping.abort();
      await following;
    },
  };
}
