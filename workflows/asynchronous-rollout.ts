import { condition, setHandler, startChild } from "@temporalio/workflow";
import type { EndedGroup, OpenGroup, RolloutProgress, ShardInput } from "../src/contracts/rollout.ts";
import type { RunSettings, TrainingProgress } from "../src/contracts/run.ts";
import type { Queues } from "../src/contracts/trajectory.ts";
import { admissible, chooseGroups, type RolloutLimits } from "./admission.ts";
import { reasonToReplace, roundsOf } from "./ended-groups.ts";
import { failure } from "./failure.ts";
import { tooManyFailures } from "./failure-share.ts";
import { endOfRun } from "./plugin-mistake.ts";
import { trajectoriesEnded } from "./progress.ts";
import { inShards } from "./run-shards.ts";
import { schedule } from "./schedule.ts";
import { stageAttributes } from "./search-attributes.ts";
import { groupPlaces } from "./trajectory-input.ts";

/** The groups of an asynchronous run under way. */
export interface AsynchronousRollout {
  /**
   * The groups for the next step, and those that were left out since the last one, once there are enough. Throws
   * TOO_MANY_FAILURES, BATCH_EMPTY, ROLLOUT_LOST.
   */
  nextStep(): Promise<EndedGroup[]>;
  /** The step has trained on what `nextStep` gave: others may start. */
  trained(): void;
  /** Of the next step's trajectories, how many have ended. */
  progress(): { done: number; of: number };
  /** Starts nothing more; resolves when what is being started has. */
  close(): Promise<void>;
}

interface Options {
  run: string;
  queues: Queues;
  settings: RunSettings;
  /** Which training workflow this is; it stays the same when it continues as new. */
  training: string;
  /** What is trained, and at which version. */
  state: TrainingProgress;
  quickTurns: () => boolean;
}

/** The state of an asynchronous run that begins. */
export function emptyRollout(): RolloutProgress {
  return { nextGroup: 1, open: [], leftOut: [] };
}

/**
 * Starts groups as there is room for their trajectories and staleness allows, in shards that go on by themselves, and
 * gathers what they tell by signal: so the training workflow can continue as new while they work. It keeps `rollout`
 * up to date, which is all that must be carried over.
 */
export function asynchronousRollout(options: Options, rollout: RolloutProgress): AsynchronousRollout {
  const { run, queues, settings, training, state } = options;
  const { groupSize } = settings;
  const limits: RolloutLimits = {
    ...{ groups: settings.batchSize / groupSize, groupSize },
    ...{ staleness: settings.staleness ?? 0, concurrency: settings.concurrency },
  };
  const drawn = new Map<number, Promise<string[]>>();
  let inTraining = 0;
  let isClosed = false;
  let isStarting = false;
  let failed: Error | undefined;

  const hasEnded = (group: OpenGroup) => Object.keys(group.results).length === group.samples.length;
  const running = () =>
    rollout.open
      .filter(({ isStarted }) => isStarted)
      .reduce((sum, { samples, results }) => sum + samples.length - Object.keys(results).length, 0);

  setHandler(trajectoriesEnded, (news) => {
    if (news.training !== training) return; // of an earlier training workflow: its groups have been started anew
    for (const { group: number, sample, result } of news.ended) {
      const group = rollout.open.find((one) => one.number === number);
      failed ??= endOfRun(result);
      if (group === undefined) continue;
      group.results[sample] = result;
      group.policyVersion = Math.min(group.policyVersion, result.policyVersion);
      if (hasEnded(group)) replaceIfNeeded(group);
    }
    failed ??= tooManyFailures({ run, step: state.nextStep }, sinceLastStep(), maximumOnceWhole());
  });

  /** The trajectories of groups that have ended and that no step has recorded. */
  function sinceLastStep() {
    const groups = [...rollout.leftOut, ...rollout.open.filter(hasEnded).map(endedGroup)];
    return groups.flatMap((group) => group.results);
  }

  /** A share says something once as many trajectories have ended as a step has. */
  function maximumOnceWhole(): number | undefined {
    return sinceLastStep().length < settings.batchSize ? undefined : settings.maxInfrastructureFailures;
  }

  function replaceIfNeeded(group: OpenGroup): void {
    const leftOut = reasonToReplace(endedGroup(group), settings);
    const isBounded = rollout.leftOut.length < limits.groups * (roundsOf(settings) - 1);
    if (leftOut !== undefined && isBounded) leaveOut(group, leftOut);
  }

  function leaveOut(group: OpenGroup, leftOut: NonNullable<EndedGroup["leftOut"]>): void {
    rollout.open = rollout.open.filter((one) => one !== group);
    rollout.leftOut.push({ ...endedGroup(group), leftOut });
  }

  function toStart(): number {
    const waiting = rollout.open.filter(({ isStarted }) => !isStarted).length;
    const admitted = rollout.open.length - waiting + inTraining;
    const stepsLeft = settings.steps - (state.nextStep - 1);
    return admissible(limits, { admitted, running: running(), stepsLeft });
  }

  async function startGroups(): Promise<void> {
    for (;;) {
      await condition(() => isClosed || toStart() > 0);
      if (isClosed) return;
      isStarting = true;
      try {
        await startSome(toStart());
      } finally {
        isStarting = false;
      }
    }
  }

  /** Those that were left waiting first, then the next ones in the order of the data. */
  async function startSome(count: number): Promise<void> {
    const waiting = rollout.open.filter(({ isStarted }) => !isStarted).slice(0, count);
    while (waiting.length < count) {
      const group = await draw(rollout.nextGroup);
      rollout.nextGroup += 1;
      rollout.open.push(group);
      waiting.push(group);
    }
    for (const groups of inShards(waiting)) await startShard(groups);
  }

  async function draw(number: number): Promise<OpenGroup> {
    const step = Math.ceil(number / limits.groups);
    const drawing = drawn.get(step) ?? schedule(queues, "draw-tasks", { run, step });
    drawn.set(step, drawing);
    const place = groupPlaces(step, await drawing, groupSize)[(number - 1) % limits.groups];
    if (place === undefined) throw failure("BATCH_EMPTY", { run, step, reason: "it has no tasks" });
    for (const other of drawn.keys()) if (other < step) drawn.delete(other);
    return { ...place, number, policyVersion: state.policyVersion, isStarted: false, results: {} };
  }

  async function startShard(groups: OpenGroup[]): Promise<void> {
    const [first] = groups;
    if (first === undefined) return;
    const { policyVersion } = state;
    for (const group of groups) {
      group.isStarted = true;
      group.policyVersion = Math.min(group.policyVersion, policyVersion);
    }
    const name = `groups-${String(first.number).padStart(5, "0")}`;
    const places = groups.map(({ number, step, stage, task, samples }) => ({
      number,
      step,
      stage,
      task,
      samples,
    }));
    const { concurrency } = settings;
    const input: ShardInput = {
      ...{ run, groups: places, policyVersion, settings, queues, concurrency, training },
      quickTurns: options.quickTurns(),
    };
    const handle = await startChild<(input: ShardInput) => Promise<unknown>>("shard", {
      args: [input],
      workflowId: `${run}/${name}`,
      parentClosePolicy: "ABANDON",
      workflowIdReusePolicy: "TERMINATE_IF_RUNNING",
      typedSearchAttributes: stageAttributes({
        ...{ run, stage: first.stage, step: first.step, policyVersion },
      }),
      staticSummary: `${groups.length} groups from policy version ${policyVersion} on`,
    });
    handle.result().catch((error) => {
      failed ??= failure("ROLLOUT_LOST", { run, shard: name, reason: String(error.cause ?? error) });
    });
  }

  /** The groups that the next step trains on. */
  function chosen(): OpenGroup[] | undefined {
    const { committed } = rollout;
    if (committed !== undefined) {
      const groups = rollout.open.filter(({ number }) => committed.includes(number));
      return groups.every(hasEnded) ? groups : undefined;
    }
    const admitted = rollout.open.map((group) => ({ ...group, isFinished: hasEnded(group) }));
    const numbers = chooseGroups(admitted, state.policyVersion, limits);
    return numbers && rollout.open.filter(({ number }) => numbers.includes(number));
  }

  function leaveOutStale(): void {
    const oldest = state.policyVersion - limits.staleness;
    const stale = rollout.open.filter((group) => hasEnded(group) && group.policyVersion < oldest);
    if (rollout.committed === undefined) for (const group of stale) leaveOut(group, "stale");
  }

  const starting = startGroups();
  starting.catch((error) => {
    failed ??= error;
  });

  return {
    nextStep: async () => {
      leaveOutStale();
      await condition(() => failed !== undefined || chosen() !== undefined);
      if (failed !== undefined) throw failed;
      const groups = chosen() ?? [];
      const ended = [...groups.sort((a, b) => a.number - b.number).map(endedGroup), ...rollout.leftOut];
      const results = ended.flatMap((group) => group.results);
      const { maxInfrastructureFailures } = settings;
      const tooMany = tooManyFailures({ run, step: state.nextStep }, results, maxInfrastructureFailures);
      if (tooMany !== undefined) throw tooMany;
      rollout.open = rollout.open.filter((group) => !groups.includes(group));
      rollout.leftOut = [];
      delete rollout.committed;
      inTraining = groups.length;
      return ended;
    },
    trained: () => {
      inTraining = 0;
    },
    progress: () => ({
      done: Math.min(settings.batchSize, sinceLastStep().length),
      of: settings.batchSize,
    }),
    close: async () => {
      isClosed = true;
      await condition(() => !isStarting);
    },
  };
}

/** A task may be in two steps at once here: the step is part of the group's name. */
function endedGroup({ stage, task, samples, results }: OpenGroup): EndedGroup {
  return { group: `${stage}/${task}`, results: samples.flatMap((sample) => results[sample] ?? []) };
}
