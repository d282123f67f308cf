import { executeChild, setHandler, workflowInfo } from "@temporalio/workflow";
import { defined } from "../src/base/records/defined.ts";
import type { OpenRunResult } from "../src/contracts/activities.ts";
import type {
  EvaluationInput,
  EvaluationRecord,
  RunProgress,
  StepInput,
  StepResult,
  TrainingInput,
  TrainingProgress,
  TrainingResult,
} from "../src/contracts/run.ts";
import { evaluationStage, stepStage } from "../src/contracts/stages.ts";
import { warmStartSlice } from "../src/contracts/warm-start-slice.ts";
import { carriedOf, restored } from "./carried-rollout.ts";
import { continueOnCurrentCode, shouldContinueAsNew } from "./continue-as-new.ts";
import { roundsOf } from "./ended-groups.ts";
import { failure } from "./failure.ts";
import { planChanged, runProgress } from "./progress.ts";
import { openRollout, type Rollout } from "./rollout.ts";
import { emptyRollout } from "./rollout-state.ts";
import { schedule } from "./schedule.ts";
import { stageAttributes } from "./search-attributes.ts";
import { shardStarter } from "./shard-starter.ts";

/** Turns that take fewer seconds than this on average are generated without a round trip to the server. */
const quickTurn = 2;

/**
 * The training workflow. It creates the policy, warms it up and takes the steps, with evaluations before,
 * during and after them. Its history is the ledger. It continues as new at step boundaries.
 */
export async function training(input: TrainingInput): Promise<TrainingResult> {
  const { run, queues } = input;
  let planChanges = 0;
  setHandler(planChanged, (changes) => {
    planChanges = Math.max(planChanges, changes);
  });
  const { continuedFromExecutionRunId, startTime } = workflowInfo();
  if (continuedFromExecutionRunId === undefined) {
    await schedule(queues, "end-shards", { run, before: startTime.toISOString() });
  }
  const knowsProgress = input.progress !== undefined;
  const opened: OpenRunResult = await schedule(queues, "open-run", { run, knowsProgress });
  const { settings } = opened;
  const state: TrainingProgress = input.progress ?? opened.progress ?? beginning;
  const onExamples = settings.trainsOnExamples === undefined ? {} : { trainsOnExamples: true as const };
  const progress: RunProgress = {
    phase: "open",
    step: state.nextStep - 1,
    steps: settings.steps,
    ...onExamples,
    policyVersion: state.policyVersion,
    done: 0,
    of: 0,
    evaluations: state.evaluations,
    evaluationEvery: settings.evaluationEvery,
  };
  setHandler(runProgress, () => ({
    ...progress,
    ...(progress.phase === "step" && progress.child === undefined ? rollout?.progress() : {}),
  }));
  let rollout: Rollout | undefined;
  const quickTurns = () => (state.turnSeconds ?? Number.POSITIVE_INFINITY) < quickTurn;

  async function evaluate(): Promise<void> {
    const { policyVersion } = state;
    const step = state.nextStep - 1;
    if (state.evaluations.some((one) => one.policyVersion === policyVersion)) return;
    const name = evaluationStage(policyVersion);
    const tasks = settings.evaluationTasks;
    Object.assign(progress, { phase: "evaluate", policyVersion, child: `${run}/${name}` });
    const plan = { name, step, policyVersion, tasks };
    const record = await executeChild<(input: EvaluationInput) => Promise<EvaluationRecord>>("evaluation", {
      args: [{ run, plan, settings, queues, quickTurns: quickTurns() }],
      workflowId: `${run}/${name}`,
      typedSearchAttributes: stageAttributes({ run, stage: name, step, policyVersion }),
      staticSummary: `held-out accuracy of policy version ${policyVersion}`,
    });
    state.evaluations = [...state.evaluations.filter((one) => one.step === 0), record]; // the first and the last
    progress.evaluations = state.evaluations;
  }

  async function warmStart(): Promise<void> {
    delete progress.child;
    for (let from = 0; from < settings.warmStartSteps; from += warmStartSlice) {
      const to = Math.min(from + warmStartSlice, settings.warmStartSteps);
      Object.assign(progress, { phase: "warm-start", done: from, of: settings.warmStartSteps });
      const summary = `supervised steps ${from + 1}–${to}`;
      await schedule(queues, "warm-start", { run, from, to }, { summary });
    }
    progress.done = settings.warmStartSteps;
  }

  if (state.nextStep === 1) {
    if (state.policyVersion === 0) {
      progress.phase = "initialize";
      await schedule(queues, "initialize-policy", { run });
      await evaluate();
      if (settings.warmStartSteps > 0) {
        await warmStart();
        state.policyVersion = 1;
        await schedule(queues, "publish-policy", { run, policyVersion: 1 });
      }
    }
    await evaluate();
  } else if (state.isFirstBroken === true) {
    await schedule(queues, "initialize-policy", { run });
    await warmStart();
  }
  delete state.isFirstBroken;

  /** Settings are read when the workflow starts, so it continues as new to apply a newer plan. */
  const isPlanNewer = () => planChanges > (settings.planChanges ?? 0);

  const isDue = (step: number) =>
    step === settings.steps || (settings.evaluationEvery > 0 && step % settings.evaluationEvery === 0);

  if (state.nextStep > 1 && isDue(state.nextStep - 1)) await evaluate(); // the previous workflow was lost during it

  const readEnded = (trajectories: string[]) =>
    schedule(queues, "read-ended", { run, trajectories, policyVersion: state.policyVersion });
  rollout = openRollout(
    {
      run,
      rules: {
        ...settings,
        groups: settings.batchSize / settings.groupSize,
        rounds: roundsOf(settings),
      },
      steps: settings.steps,
      position: state,
      maxInfrastructureFailures: settings.maxInfrastructureFailures,
      draw: (step, replacement) =>
        schedule(queues, "draw-tasks", defined({ run, step, replacement }), { isQuick: true }),
      startShard: shardStarter({
        run,
        settings,
        queues,
        position: state,
        quickTurns,
        newest: settings.staleness > 0,
        source: "training",
      }),
      readEnded,
    },
    state.rollout === undefined ? emptyRollout() : await restored(run, state.rollout, readEnded),
  );

  async function takeStep(from: Rollout): Promise<void> {
    const since = Date.now();
    const { nextStep: step, policyVersion } = state;
    const stage = stepStage(step);
    delete progress.child;
    Object.assign(progress, { phase: "step", step, policyVersion });
    const { committed } = state;
    const drawsNothing = settings.trainsOnExamples === true;
    const taken =
      drawsNothing || committed !== undefined ? { groups: committed ?? [] } : await from.nextStep();
    delete state.committed;
    const trainedBefore = state.trajectories;
    progress.child = `${run}/${stage}`;
    const result = await executeChild<(input: StepInput) => Promise<StepResult>>("step", {
      args: [
        {
          run,
          step,
          policyVersion,
          settings,
          queues,
          since,
          trainedBefore,
          quickTurns: quickTurns(),
          ...taken,
        },
      ],
      workflowId: `${run}/${stage}`,
      typedSearchAttributes: stageAttributes({ run, stage, step, policyVersion }),
      staticSummary: `step ${step} from policy version ${policyVersion}`,
    });
    state.policyVersion = result.policyVersion;
    if (result.turnSeconds !== undefined) state.turnSeconds = result.turnSeconds;
    state.trajectories += result.trajectories;
    state.nextStep = step + 1;
    from.trained();
    if (result.stop !== undefined && step < settings.steps)
      throw failure("RUN_STOPPED", { run, step, ...result.stop });
  }

  /** Continues as new on the current code, with the groups in progress. */
  async function goOn(from: Rollout): Promise<never> {
    const left = await from.close();
    const { rollout: _before, ...kept } = state;
    const carried = settings.staleness > 0 ? { rollout: carriedOf(left) } : {};
    return continueOnCurrentCode<typeof training>({ run, queues, progress: { ...kept, ...carried } });
  }

  // Asynchronous rollouts continue during an evaluation, within their staleness.
  while (state.nextStep <= settings.steps) {
    await takeStep(rollout);
    if (isDue(state.nextStep - 1)) await evaluate();
    if (isPlanNewer() || (shouldContinueAsNew() && state.nextStep <= settings.steps)) return goOn(rollout);
  }
  if (isPlanNewer()) return goOn(rollout);
  await rollout.close();
  progress.phase = "done";
  return { ...trainingResult(run, state, settings.warmStartSteps > 0), ...onExamples };
}

const beginning: TrainingProgress = { nextStep: 1, policyVersion: 0, evaluations: [], trajectories: 0 };

function trainingResult(run: string, state: TrainingProgress, warm: boolean): TrainingResult {
  const accuracyAt = (version: number) =>
    state.evaluations.find((record) => record.policyVersion === version)?.accuracy;
  return {
    run,
    steps: state.nextStep - 1,
    trajectories: state.trajectories,
    policyVersion: state.policyVersion,
    accuracyBefore: accuracyAt(0) ?? 0,
    accuracyWarmStart: warm ? (accuracyAt(1) ?? 0) : null,
    accuracyAfter: state.evaluations.at(-1)?.accuracy ?? 0,
  };
}
