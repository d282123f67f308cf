import { CancellationScope } from "@temporalio/workflow";
import type { TrainStepInput } from "../src/contracts/activities.ts";
import type { TrainStepResult } from "../src/contracts/ledger.ts";
import type { Queues } from "../src/contracts/trajectory.ts";
import { schedule } from "./schedule.ts";

/**
 * Trains a step with as many trainers as take it, at most one for each of its portions. They make the same version, and
 * the first one commits it, so the step needs only one activity. It fails if all of them fail. The failures of some stay
 * in the history.
 */
export async function trainTogether(
  queues: Queues,
  portions: number,
  input: TrainStepInput,
): Promise<TrainStepResult> {
  if (portions === 1) return schedule(queues, "train-step", input);
  const trainers = new CancellationScope();
  return trainers.run(async () => {
    const trained = schedule(queues, "train-step", input);
    const joining = Array.from({ length: portions - 1 }, () => schedule(queues, "join-step", input));
    try {
      return await Promise.any([trained, ...joining]);
    } catch {
      return await trained; // its error says most
    } finally {
      trainers.cancel();
    }
  });
}
