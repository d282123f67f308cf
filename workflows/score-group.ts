import type { MemberScore } from "../src/contracts/activities.ts";
import type { GroupPlace, ShardInput, TrajectorySummary } from "../src/contracts/rollout.ts";
import { stepOf } from "../src/contracts/stages.ts";
import type { TrajectoryInput } from "../src/contracts/trajectory.ts";
import { hasFinished } from "./ended-groups.ts";
import { mistakeIn } from "./plugin-mistake.ts";
import { schedule } from "./schedule.ts";

/** A trajectory of a shard that has ended. */
interface Ended {
  input: TrajectoryInput;
  result: TrajectorySummary;
}

/**
 * Takes the trajectories of a shard as they end, and returns those whose results are final. Without group
 * rewards, each is final at once. With group rewards, a group's results are final when its last trajectory
 * has ended and the rewards have compared them. Evaluations have no groups.
 */
export function groupScoring(shard: ShardInput) {
  const { group: binding } = shard.settings.reward;
  const waiting = new Map<GroupPlace, Ended[]>();
  return async (group: GroupPlace, one: Ended): Promise<TrajectorySummary[]> => {
    if (binding === undefined || stepOf(group.stage) === undefined) return [one.result];
    const ended = [...(waiting.get(group) ?? []), one].sort(bySample);
    waiting.set(group, ended);
    return ended.length < group.samples.length ? [] : compared(group, ended, binding);
  };

  async function compared(
    group: GroupPlace,
    ended: readonly Ended[],
    { pure, retry }: NonNullable<typeof binding>,
  ): Promise<TrajectorySummary[]> {
    const { run, queues, source } = shard;
    const finished = ended.flatMap(({ input, result }) => (hasFinished(result) ? [input.place.sample] : []));
    if (finished.length === 0) return ended.map(({ result }) => result);
    const options = { summary: `group ${group.stage}/${group.task}`, isQuick: pure, retry };
    try {
      const scores = await schedule(queues, "score-group", { run, group, source, finished }, options);
      return ended.map(({ input, result }) => withScore(result, ofSample(scores, input.place.sample)));
    } catch (error) {
      return lost(ended, error);
    }
  }

  /** Leaves out the whole group, because its rewards could not score it. */
  async function lost(ended: readonly Ended[], error: unknown): Promise<TrajectorySummary[]> {
    const mistake = mistakeIn(error);
    const failure = `score-group: ${messageOf(error)}`;
    return Promise.all(
      ended.map(async ({ input, result }): Promise<TrajectorySummary> => {
        if (!hasFinished(result)) return result;
        const { place, source, policyVersion, queues } = input;
        await schedule(queues, "record-left-out", {
          place,
          source,
          policyVersion,
          startedAt: Date.now(),
          failure,
        });
        return mistake === undefined ? leftOut(result, failure) : { ...leftOut(result, failure), mistake };
      }),
    );
  }
}

function bySample({ input: { place: one } }: Ended, { input: { place: other } }: Ended): number {
  return one.sample - other.sample;
}

function ofSample(scores: readonly MemberScore[], sample: number): MemberScore | undefined {
  return scores.find((one) => one.sample === sample);
}

function withScore(result: TrajectorySummary, score: MemberScore | undefined): TrajectorySummary {
  if (score === undefined) return result;
  const { sample: _sample, ...said } = score;
  return "failure" in said ? leftOut(result, said.failure) : { ...result, ...said };
}

function leftOut(result: TrajectorySummary, failure: string): TrajectorySummary {
  const { turnRewards: _turnRewards, ...kept } = result;
  return { ...kept, outcome: "left-out", reward: 0, success: false, failure };
}

/** The message of the innermost cause, which is the activity's own failure. */
function messageOf(error: unknown): string {
  let cause = error;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  return cause instanceof Error ? cause.message : String(cause);
}
