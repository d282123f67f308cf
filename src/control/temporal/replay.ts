import type { Client } from "@temporalio/client";
import type { temporal } from "@temporalio/proto";
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { DeterminismViolationError } from "@temporalio/workflow";
import { dataConverter } from "../encryption/data-converter.ts";
import type { Encryption } from "../encryption/encryption-codec.ts";
import type { BundledLoop } from "./bundle-workflows.ts";
import { reasonOf } from "./connection-settings.ts";
import { workflowBundle } from "./workflow-bundle.ts";

/** Whether workflow code makes the commands in a history, and if not, where it deviates. */
export type Replay = { deterministic: true } | { deterministic: false; reason: string };

type History = temporal.api.history.v1.IHistory;

/** The histories of a workflow, the first one first. A long workflow has several, because it continued as new. */
export async function historiesOf({ workflow }: Client, workflowId: string): Promise<History[]> {
  const histories = [await workflow.getHandle(workflowId).fetchHistory()];
  for (;;) {
    const started = histories[0]?.events?.[0]?.workflowExecutionStartedEventAttributes;
    const before = started?.continuedExecutionRunId;
    if (before === undefined || before === null || before === "") return histories;
    histories.unshift(await workflow.getHandle(workflowId, before).fetchHistory());
  }
}

/** Runs the current workflow code, with the run's agent loops, over recorded histories, which `encryption` decrypts. It calls nothing again. */
export async function replayHistories(
  histories: readonly History[],
  workflowId: string,
  loops: readonly BundledLoop[],
  encryption?: Encryption,
): Promise<Replay> {
  const code = await workflowBundle(loops, false);
  let replayed = 0;
  try {
    Runtime.install({ logger: new DefaultLogger("ERROR") });
    const options = { workflowBundle: { code }, dataConverter: dataConverter(encryption) };
    for (const history of histories) {
      await Worker.runReplayHistory(options, history, workflowId);
      replayed += 1;
    }
    return { deterministic: true };
  } catch (error) {
    if (!(error instanceof DeterminismViolationError)) throw error;
    const which = histories.length > 1 ? `history ${replayed + 1} of ${histories.length}: ` : "";
    return { deterministic: false, reason: which + reasonOf(error) };
  }
}
