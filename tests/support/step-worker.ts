import { join } from "node:path";
import type { WorkerOptions } from "@temporalio/worker";
import type { TrainStepInput } from "../../src/contracts/activities.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import type { Task } from "../../src/contracts/generated/task.ts";
import type { TrainingInput } from "../../src/contracts/run.ts";
import type { RunSettings } from "../../src/contracts/run-settings.ts";
import { evaluated } from "./evaluated.ts";
import { startWorkflows, type WorkflowWorker } from "./workflow-worker.ts";

/** A worker of Everturn's workflows, and what its steps trained on and recorded. */
export interface StepWorker extends WorkflowWorker {
  /** Has the training workflow `run` take one step; what it trained on. */
  step(number: number, settings: RunSettings): Promise<TrainStepInput>;
  records: StepRecord[];
}

/** Starts a server in `folder` and a worker whose steps are given `activities`, and train and record nothing real. */
export async function startSteps(
  folder: string,
  activities: NonNullable<WorkerOptions["activities"]>,
): Promise<StepWorker> {
  const queue = "steps";
  const trained: TrainStepInput[] = [];
  const records: StepRecord[] = [];
  let current: RunSettings | undefined;
  const metrics = { approximateKl: 0, entropy: 0, clipFraction: 0, policyLoss: 0 };
  const workflow = join(import.meta.dirname, "../../plugins/loop-tool-agent/workflow.ts");
  const worker = await startWorkflows({
    folder,
    queue,
    loop: { name: "loop-tool-agent", workflow },
    activities: {
      ...activities,
      "open-run": async () => ({ settings: current }),
      "initialize-policy": async () => ({ policyVersion: 0 }),
      "end-shards": async () => {},
      "train-step": async (input: TrainStepInput) => {
        trained.push(input);
        return { policyVersion: 1, metrics, seconds: 0 };
      },
      "publish-policy": async () => ({ seconds: 0 }),
      "record-step": async ({ record }: { record: StepRecord }) => void records.push(record),
    },
  });

  async function step(number: number, settings: RunSettings): Promise<TrainStepInput> {
    const queues = { orchestration: queue, policy: queue, tools: queue, trainer: queue };
    current = { ...settings, steps: number };
    const evaluations = [evaluated(0), evaluated(1)];
    const progress = { nextStep: number, policyVersion: 0, evaluations, trajectories: 0 };
    const input: TrainingInput = { run: "run", queues, progress };
    await worker.client.workflow.execute("training", { workflowId: "run", taskQueue: queue, args: [input] });
    const last = trained.at(-1);
    if (last === undefined) throw new Error("the step did not train");
    return last;
  }

  return { ...worker, step, records };
}

/** A task that says its id. */
export function taskOf(id: string): Task {
  return {
    data_source: "test",
    prompt: [{ role: "user", content: id }],
    reward_model: { ground_truth: "" },
  };
}
