import { setHandler } from "@temporalio/workflow";
import { mean } from "../src/base/statistics/mean.ts";
import type { EvaluationInput, EvaluationRecord } from "../src/contracts/run.ts";
import type { RunSettings } from "../src/contracts/run-settings.ts";
import type { TaskSet } from "../src/contracts/trajectory.ts";
import { nothingFinished } from "./failure-share.ts";
import { admitted } from "./open-groups.ts";
import { stageProgress } from "./progress.ts";
import { openRollout } from "./rollout.ts";
import { emptyRollout } from "./rollout-state.ts";
import { schedule } from "./schedule.ts";
import { shardStarter } from "./shard-starter.ts";

/**
 * Evaluates the held-out tasks and records the result. By default each task runs once and greedily. An
 * evaluation is a rollout with a single step that trains nothing. Trajectories that were left out count as
 * wrong. Throws EVALUATION_EMPTY if all of them were.
 */
export async function evaluation(input: EvaluationInput): Promise<EvaluationRecord> {
  const { run, plan, queues } = input;
  const { step, policyVersion } = plan;
  const started = Date.now();
  const settings = evaluated(input);
  const { samples = 1 } = plan;
  const position = { nextStep: 1, policyVersion };
  const source: TaskSet = plan.taskFile === undefined ? "validation" : { file: plan.taskFile };
  const limit = plan.tasks === undefined ? {} : { limit: plan.tasks };
  const tasks = await schedule(
    queues,
    "draw-tasks",
    { run, step, evaluation: { source, ...limit } },
    { isQuick: true },
  );
  const places = tasks.map((task) => ({ step, stage: plan.name, task, samples: range(samples) }));
  const { concurrency } = settings;
  const rollout = openRollout(
    {
      run,
      position,
      steps: 1,
      rules: { groups: tasks.length, groupSize: samples, staleness: 0, concurrency, minGroup: 0, rounds: 1 },
      draw: async () => [],
      startShard: shardStarter({
        run,
        settings,
        queues,
        position,
        newest: false,
        source,
        quickTurns: () => input.quickTurns ?? false,
      }),
      readEnded: (trajectories) => schedule(queues, "read-ended", { run, trajectories, policyVersion }),
    },
    { ...emptyRollout(), open: places.map((place) => admitted(place, policyVersion)) },
  );
  setHandler(stageProgress, rollout.progress);
  const { groups } = await rollout.nextStep();
  const results = groups.flatMap((group) => group.results);
  const failed = nothingFinished({ run, evaluation: plan.name }, results);
  if (failed !== undefined) throw failed;
  const record: EvaluationRecord = {
    name: plan.name,
    step,
    policyVersion,
    accuracy: mean(results.map((result) => Number(result.success))),
    rewardMean: mean(results.map((result) => result.reward)),
    tasks: tasks.length,
    leftOut: results.filter((result) => result.outcome === "left-out").length,
    toolCallRate: mean(results.map((result) => Number(result.toolCalls > 0))),
    meanActionTokens: mean(results.map((result) => result.tokens.action)),
    seconds: (Date.now() - started) / 1000,
    ...(plan.samples === undefined ? {} : { samples, temperature: plan.temperature ?? 0 }),
  };
  const seconds = await schedule(queues, "record-evaluation", { run, record, started }, { isQuick: true });
  return { ...record, seconds: seconds ?? record.seconds };
}

function evaluated({ settings, plan }: EvaluationInput): RunSettings {
  return {
    ...settings,
    sampling: { temperature: plan.temperature ?? 0, maxTokens: settings.sampling.maxTokens },
    tools: plan.withoutTools === true ? settings.tools.filter(({ forLoops }) => forLoops) : settings.tools,
  };
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
