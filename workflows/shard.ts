import { condition, getExternalWorkflowHandle, setHandler } from "@temporalio/workflow";
import type { SelectedTask } from "../src/contracts/activities.ts";
import type { ShardInput, TrajectoriesEnded, TrajectorySummary } from "../src/contracts/rollout.ts";
import type { TrajectoryInput } from "../src/contracts/trajectory.ts";
import { stageProgress, trajectoriesEnded } from "./progress.ts";
import { runTrajectories } from "./run-trajectories.ts";
import { schedule } from "./schedule.ts";
import { summarize } from "./summarize.ts";
import { inputsOf } from "./trajectory-input.ts";

/**
 * Rolls out groups for a workflow that has too many, or that must not wait for them: their trajectories, at most
 * `concurrency` at once. Returns what came of each in order, or in an asynchronous run tells the training workflow of
 * each as it ends.
 */
export async function shard(input: ShardInput): Promise<TrajectorySummary[]> {
  const { run, groups, queues, training } = input;
  const tasks = await schedule(queues, "load-tasks", { run, groups });
  const generation = { ...input, newest: training !== undefined };
  const members = groups.flatMap((group, index) => {
    const selected: SelectedTask | undefined = tasks[index];
    if (selected === undefined) return [];
    return inputsOf(group, selected, generation).map((one) => ({ one, group: group.number ?? 0 }));
  });
  const progress = { done: 0, of: members.length };
  setHandler(stageProgress, () => progress);
  const groupOf = new Map<TrajectoryInput, number>(members.map(({ one, group }) => [one, group]));
  const ended: TrajectoriesEnded["ended"] = [];
  let told = 0;

  const rollout = runTrajectories([...groupOf.keys()], input.concurrency, (result, one) => {
    progress.done += 1;
    ended.push({
      group: groupOf.get(one) ?? 0,
      sample: one.place.sample,
      result: summarize(result),
    });
  });
  if (training === undefined) return (await rollout).map(summarize);

  const parent = getExternalWorkflowHandle(run);
  async function tell(): Promise<void> {
    while (told < members.length) {
      await condition(() => ended.length > told);
      const news = ended.slice(told); // several that end in one workflow task are one signal
      told = ended.length;
      await parent.signal(trajectoriesEnded, { training: training ?? "", ended: news });
    }
  }
  await Promise.all([rollout, tell()]);
  return [];
}
