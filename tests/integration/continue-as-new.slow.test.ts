import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type {
  DrawTasksInput,
  LoadTaskInput,
  ReadEndedInput,
  ReserveGroupsInput,
  TrainStepInput,
} from "../../src/contracts/activities.ts";
import type { TrajectorySummary } from "../../src/contracts/rollout.ts";
import type { EvaluationRecord, TrainingInput } from "../../src/contracts/run.ts";
import type { RunSettings } from "../../src/contracts/run-settings.ts";
import { stepSettings } from "../support/step-settings.ts";
import { taskOf } from "../support/step-worker.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startWorkflows, type WorkflowWorker } from "../support/workflow-worker.ts";

const queue = "steps";
const queues = { orchestration: queue, policy: queue, tools: queue, trainer: queue };

/** The seconds of a turn. Trajectories of quicker ones are started by an activity, which would need a run's folder. */
const turnSeconds = 2;

/** Steps that a workflow is followed for. */
const followed = 8;

/** Two groups of one trajectory a step, and another step's under way; an evaluation after each. */
const settings: RunSettings = {
  ...stepSettings,
  steps: followed,
  groupSize: 1,
  staleness: 1,
  evaluationEvery: 1,
};
const tokens = { prompt: 1, action: 1, observation: 0 };
const metrics = { approximateKl: 0, entropy: 0, clipFraction: 0, policyLoss: 0 };

/** Steps that the run has now, and how often its workflow may find that the plan has changed since. */
let steps = 0;
let changes = 0;
/** How many trajectories were read at once by each that continued. */
let readCounts: number[] = [];
let worker: WorkflowWorker;

beforeAll(async () => {
  const workflow = join(import.meta.dirname, "../../plugins/loop-tool-agent/workflow.ts");
  worker = await startWorkflows({
    folder: temporaryFolder(),
    queue,
    loop: { name: "loop-tool-agent", workflow },
    activities: {
      "open-run": async () => ({ settings: { ...settings, steps, planChanges: changes-- > 0 ? -1 : 0 } }),
      "end-shards": async () => {},
      "initialize-policy": async () => ({ policyVersion: 0 }),
      "draw-tasks": async ({ step, evaluation }: DrawTasksInput) =>
        evaluation === undefined ? [`a${step}`, `b${step}`] : ["held-out"],
      "reserve-groups": async ({ groups }: ReserveGroupsInput) => groups.map(({ task }) => task),
      "load-task": async ({ place }: LoadTaskInput) => taskOf(place.task),
      "generate-turn": async () => ({
        action: "done",
        finishReason: "stop",
        head: "a".repeat(64),
        policyVersion: 0,
        tokens,
        seconds: turnSeconds,
      }),
      "score-trajectory": async () => ({ reward: 1, success: true }),
      "record-evaluation": async () => {},
      "read-ended": async ({ trajectories }: ReadEndedInput) => {
        readCounts.push(trajectories.length);
        return trajectories.map(summaryOf);
      },
      "train-step": async ({ policyVersion }: TrainStepInput) => ({
        policyVersion: policyVersion + 1,
        metrics,
        seconds: 0,
      }),
      "publish-policy": async () => ({ seconds: 0 }),
      "record-step": async () => {},
    },
  });
});
afterAll(() => worker.stop());

function summaryOf(trajectory: string): TrajectorySummary {
  return {
    trajectory,
    outcome: "answered",
    reward: 1,
    success: true,
    turns: 1,
    head: "a".repeat(64),
    tokens,
    policyVersion: 0,
    newestPolicyVersion: 0,
    generationSeconds: turnSeconds,
    toolCalls: 0,
    validCalls: 0,
  };
}

/** Trains some steps from `nextStep` on, and continues as new after each: the size of each input, bytes. */
async function inputsFrom(nextStep: number): Promise<{ sizes: number[]; read: number[] }> {
  const policyVersion = nextStep - 1;
  const evaluations = [evaluated(0, 0), evaluated(policyVersion, nextStep - 1)];
  const progress = { nextStep, policyVersion, evaluations, trajectories: 2 * policyVersion };
  const run = `run-${String(nextStep).padStart(4, "0")}`;
  const input: TrainingInput = { run, queues, progress };
  steps = policyVersion + followed;
  changes = followed - 1;
  readCounts = [];
  const options = { workflowId: run, taskQueue: queue, args: [input] };
  const handle = await worker.client.workflow.start("training", options);
  expect(await handle.result()).toMatchObject({ steps, policyVersion: steps });
  const sizes: number[] = [];
  let execution: string | undefined = handle.firstExecutionRunId;
  while (execution !== undefined) {
    const next = await continuation(run, execution);
    if (next !== undefined) sizes.push(next.input?.payloads?.[0]?.data?.length ?? 0);
    execution = next?.newExecutionRunId ?? undefined;
  }
  return { sizes, read: readCounts };
}

/** What an execution continued as; undefined if it ended. */
async function continuation(workflow: string, execution: string) {
  const { events } = await worker.client.workflow.getHandle(workflow, execution).fetchHistory();
  return events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes ?? undefined;
}

function evaluated(policyVersion: number, step: number): EvaluationRecord {
  return {
    name: "evaluation-v0000",
    step,
    policyVersion,
    accuracy: 0,
    tasks: 1,
    leftOut: 0,
    toolCallRate: 0,
    meanActionTokens: 0,
    seconds: 0,
  };
}

test("what is carried when the training workflow continues as new, and read after it, does not grow with the steps", async () => {
  const early = await inputsFrom(3);
  const late = await inputsFrom(993);
  for (const { sizes, read } of [early, late]) {
    expect(sizes).toHaveLength(followed - 1);
    expect(Math.max(...read), "no more than two steps' groups are under way").toBeLessThanOrEqual(4);
  }
  const [most, least] = [Math.max(...late.sizes), Math.min(...early.sizes)];
  expect(most - least, `${least} bytes at first`).toBeLessThan(600); // up to four groups more, and longer numbers
});
