import { condition, getExternalWorkflowHandle, setHandler } from "@temporalio/workflow";
import type { ShardInput, TrajectorySummary } from "../src/contracts/rollout.ts";
import { resultSummary } from "../src/run/projections/trajectory-summary.ts";
import { inLanes } from "./in-lanes.ts";
import { stageProgress, trajectoriesEnded } from "./progress.ts";
import { runTrajectory } from "./run-trajectory.ts";
import { schedule } from "./schedule.ts";
import { groupScoring } from "./score-group.ts";
import { runStartedHere } from "./started-here.ts";
import { inputsOf } from "./trajectory-input.ts";

/**
 * Milliseconds that results wait for others, and results per signal. These keep a quick step's signals few
 * and each signal small.
 */
const bounds = { wait: 1000, results: 200 };

/**
 * Rolls out groups for the workflow that admitted them, at most `concurrency` trajectories at once. Sends the
 * results of ended and scored trajectories to that workflow in batches, and returns those it has not sent
 * when all have ended. In an asynchronous run it sends all of them, because the workflow that started the
 * shard may have continued as new and would not see the shard's result.
 */
export async function shard(input: ShardInput): Promise<TrajectorySummary[]> {
  const { run, groups, queues, source, admitter } = input;
  const lines = await schedule(queues, "reserve-groups", { run, groups, source }, { isQuick: true });
  const inputs = groups.flatMap((group, index) =>
    inputsOf(group, input).map((own) => ({ group, own, line: lines[index] ?? group.task })),
  );
  const progress = { done: 0, of: inputs.length };
  setHandler(stageProgress, () => progress);
  const untold: TrajectorySummary[] = [];

  const scored = groupScoring(input);
  async function onEnded({ group, own }: (typeof inputs)[number], result: TrajectorySummary): Promise<void> {
    const ended = await scored(group, { input: own, result });
    untold.push(...ended);
    progress.done += ended.length;
  }
  const rollout =
    input.startsHere === true
      ? runStartedHere(inputs, input.concurrency, onEnded)
      : inLanes(inputs, input.concurrency, async (one) =>
          onEnded(one, resultSummary(await runTrajectory(one.own, one.line))),
        );

  const haveEnded = () => progress.done === inputs.length;
  const isDue = () =>
    haveEnded() || untold.length >= bounds.results || untold.some(({ mistake }) => mistake !== undefined);
  const canReturn = () => !input.newest && haveEnded() && untold.length <= bounds.results;

  async function tell(): Promise<void> {
    const told = getExternalWorkflowHandle(admitter.workflow);
    while (!haveEnded() || untold.length > 0) {
      await condition(() => untold.length > 0);
      if (!isDue()) await condition(isDue, bounds.wait);
      if (canReturn()) return;
      const ended = untold.splice(0, bounds.results);
      await told.signal(trajectoriesEnded, { execution: admitter.execution, ended });
    }
  }
  await Promise.all([rollout, tell()]);
  return untold;
}
