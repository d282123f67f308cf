import type { Trajectory } from "../../src/contracts/generated/trajectory.ts";
import { type TrajectoryName, trajectoryKey } from "../../src/run/store/keys.ts";
import type { Store } from "../../src/run/store/store.ts";

/** Records that a trajectory of one turn was scored, as the activity does. */
export async function writeScore(
  store: Store,
  place: TrajectoryName,
  more: Partial<Trajectory> = {},
): Promise<void> {
  const { stage, task, sample } = place;
  await store.record(trajectoryKey(place), {
    id: `run/${stage}/${task}/${sample}`,
    run: "run",
    stage,
    step: 1,
    sample,
    taskId: task,
    task: { data_source: "test", prompt: [], reward_model: { ground_truth: "" } },
    policyVersions: [1],
    outcome: "answered",
    reward: 0,
    success: false,
    head: null,
    seconds: 1,
    turns: [{ action: "", toolCalls: [] }],
    tokens: { prompt: 0, action: 0, observation: 0 },
    ...more,
  });
}
