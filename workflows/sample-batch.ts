import type { EndedGroup, GroupPlace } from "../src/contracts/rollout.ts";
import type { StageProgress, StepInput } from "../src/contracts/run.ts";
import { reasonToReplace, roundsOf } from "./ended-groups.ts";
import { tooManyFailures } from "./failure-share.ts";
import { groupsOf, runShards, shardSize } from "./run-shards.ts";
import { runTrajectories } from "./run-trajectories.ts";
import { schedule } from "./schedule.ts";
import { stepStage } from "./stages.ts";
import { summarize } from "./summarize.ts";
import { groupPlaces, inputsOf } from "./trajectory-input.ts";

/**
 * Rolls out a synchronous step. Groups that lost too many members to infrastructure are replaced by other tasks, and
 * with dynamic sampling (DAPO, arXiv:2503.14476, section 3.2) those whose rewards are all the same, in at most so
 * many rounds; then the step trains on what it has. Counts its trajectories in `progress`. Throws TOO_MANY_FAILURES,
 * BATCH_EMPTY.
 */
export async function sampleBatch(input: StepInput, progress: StageProgress): Promise<EndedGroup[]> {
  const { run, step, settings, queues } = input;
  const isLarge = settings.batchSize > shardSize;
  const drawn: string[] = [];
  const groups: EndedGroup[] = [];

  /** The groups of a round, by the tasks that all rounds so far drew. */
  function places(tasks: string[], round: number): GroupPlace[] {
    const known = drawn.length;
    drawn.push(...tasks);
    const fresh = groupPlaces(step, drawn, settings.groupSize).slice(known);
    return round === 1 ? fresh : fresh.map((place) => ({ ...place, round }));
  }

  async function sampleRound(round: number, count?: number): Promise<void> {
    const replacement = count === undefined ? {} : { replacement: { round, count, drawn: [...drawn] } };
    const ended = isLarge ? await inParts(replacement, round) : await directly(replacement, round);
    groups.push(...ended);
    const results = groups.flatMap((group) => group.results);
    const failed = tooManyFailures(input, results, settings.maxInfrastructureFailures);
    if (failed !== undefined) throw failed;
  }

  async function directly(replacement: object, round: number): Promise<EndedGroup[]> {
    const selected = await schedule(queues, "select-tasks", {
      run,
      step,
      stage: stepStage(step),
      ...replacement,
    });
    const fresh = places(
      selected.map(({ id }) => id),
      round,
    );
    const inputs = fresh.flatMap((place, index) => {
      const task = selected[index];
      return task === undefined ? [] : inputsOf(place, task, input);
    });
    progress.of += inputs.length;
    const results = await runTrajectories(inputs, settings.concurrency, () => {
      progress.done += 1;
    });
    return groupsOf(fresh, results.map(summarize));
  }

  async function inParts(replacement: object, round: number): Promise<EndedGroup[]> {
    const fresh = places(await schedule(queues, "draw-tasks", { run, step, ...replacement }), round);
    progress.of += fresh.length * settings.groupSize;
    return runShards(input, fresh, (results) => {
      progress.done += results.length;
    });
  }

  const kept = () => groups.filter((group) => reasonToReplace(group, settings) === undefined);
  await sampleRound(1);
  const wanted = groups.length;
  for (let round = 2; round <= roundsOf(settings); round++) {
    const count = wanted - kept().length;
    if (count === 0) break;
    await sampleRound(round, count);
  }
  // If every group should be replaced, the step trains on those that it drew first.
  const first = new Set(kept().length > 0 ? [] : groups.slice(0, wanted));
  return groups.map((group) => {
    const leftOut = first.has(group) ? undefined : (reasonToReplace(group, settings) ?? undefined);
    return leftOut === undefined ? group : { ...group, leftOut };
  });
}
