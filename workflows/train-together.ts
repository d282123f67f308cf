import { CancellationScope } from "@temporalio/workflow";
import type { TrainStepInput } from "../src/contracts/activities.ts";
import type { TrainStepResult } from "../src/contracts/ledger.ts";
import type { Queues } from "../src/contracts/trajectory.ts";
import { schedule } from "./schedule.ts";

/**
 * Trains a step with as many trainers as take it, at most one for each of its portions. They make the same version, and
 * the first one commits it. The step needs only the first activity, which finds the commit if another trainer made it.
 * The failures of the others stay in the history.
 */
export async function trainTogether(
  queues: Queues,
  portions: number,
  input: TrainStepInput,
): Promise<TrainStepResult> {
  const trained = schedule(queues, "train-step", input);
  if (portions === 1) return trained;
  const others = new CancellationScope();
  void others.run(async () => {
    const joining = Array.from({ length: portions - 1 }, () => schedule(queues, "join-step", input));
    await Promise.allSettled(joining);
  });
  try {
    return await trained;
  } finally {
    others.cancel();
  }
}
