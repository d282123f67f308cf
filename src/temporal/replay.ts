import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { temporal } from "@temporalio/proto";
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { DeterminismViolationError } from "@temporalio/workflow";
import type { ResolvedLoop } from "../contracts/plan.ts";
import { reasonOf } from "./client.ts";
import { bundleWorkflows } from "./workflow-bundle.ts";

/** Whether workflow code makes the commands that a history holds, and if not, where it parts from it. */
export type Replay = { deterministic: true } | { deterministic: false; reason: string };

/** Runs today's workflow code, with the run's agent loop, over a recorded history. Nothing is called again. */
export async function replayHistory(
  history: temporal.api.history.v1.IHistory,
  workflowId: string,
  loop: Pick<ResolvedLoop, "name" | "workflow">,
): Promise<Replay> {
  const folder = await mkdtemp(join(tmpdir(), "everturn-replay-"));
  try {
    const codePath = join(folder, "workflows.js");
    await bundleWorkflows(codePath, loop, false);
    Runtime.install({ logger: new DefaultLogger("ERROR") });
    await Worker.runReplayHistory({ workflowBundle: { codePath } }, history, workflowId);
    return { deterministic: true };
  } catch (error) {
    if (error instanceof DeterminismViolationError) return { deterministic: false, reason: reasonOf(error) };
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
