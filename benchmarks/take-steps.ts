import type { TrainingInput, TrainingProgress, TrainingResult } from "../src/contracts/run.ts";
import type { SupervisedRun } from "../src/control/supervision/supervised-run.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";
import { planRow } from "../src/run/store/keys.ts";
import { addToRow } from "../src/run/store/row.ts";
import { evaluated } from "../tests/support/evaluated.ts";

/** Has a training workflow of its own take `count` steps of a run, from `nextStep` on, without evaluations. */
export async function takeSteps(
  { client, queues, failed }: SupervisedRun,
  { id: run, store, plan }: Pick<OpenRun, "id" | "store" | "plan">,
  from: Pick<TrainingProgress, "nextStep" | "policyVersion" | "turnSeconds">,
  count = 1,
): Promise<TrainingResult> {
  const { nextStep, policyVersion } = from;
  await addToRow(store, planRow, () => ({ ...plan, steps: nextStep + count - 1 }));
  const evaluations = Array.from({ length: count + 1 }, (_, made) => evaluated(policyVersion + made));
  const input: TrainingInput = { run, queues, progress: { ...from, evaluations, trajectories: 0 } };
  const workflow = { workflowId: `${run}/steps-from-${nextStep}`, taskQueue: queues.orchestration };
  const stepping: Promise<TrainingResult> = client.workflow.execute("training", {
    ...workflow,
    args: [input],
  });
  return Promise.race([stepping, failed]);
}
