import { condition, setHandler, workflowInfo } from "@temporalio/workflow";
import { defined } from "../src/base/records/defined.ts";
import type { Replacement } from "../src/contracts/activities.ts";
import { groupPlaces } from "../src/contracts/group-places.ts";
import type {
  EndedGroup,
  GroupPlace,
  OpenGroup,
  RolloutProgress,
  TrajectorySummary,
} from "../src/contracts/rollout.ts";
import type { StepInput, TrainingProgress } from "../src/contracts/run.ts";
import { failure } from "./failure.ts";
import { tooManyFailures } from "./failure-share.ts";
import { inShards, type Shard, samplesIn } from "./in-shards.ts";
import { isBuiltAnew } from "./instance.ts";
import { admitted, hasEnded } from "./open-groups.ts";
import { endOfRun } from "./plugin-mistake.ts";
import { trajectoriesEnded } from "./progress.ts";
import {
  groupCursor,
  nextRound,
  notEnded,
  type RolloutRules,
  type StepPosition,
  sinceLastStep,
  taken,
  toStart,
  withEnded,
  withoutStale,
} from "./rollout-state.ts";

/** The groups in progress of a run or an evaluation. */
export interface Rollout {
  /**
   * Resolves to the groups for the next step, once there are enough, and those that were left out since the
   * last step. Throws TOO_MANY_FAILURES, BATCH_EMPTY, ROLLOUT_LOST.
   */
  nextStep(): Promise<Pick<StepInput, "groups" | "cursor">>;
  /** Records that the step has trained on the groups from `nextStep`, so that other groups may start. */
  trained(): void;
  /** How many of the next step's trajectories have ended. */
  progress(): { done: number; of: number };
  /**
   * Starts no more groups. Resolves to the state to carry over once all groups that are starting have
   * started.
   */
  close(): Promise<RolloutProgress>;
}

interface Options {
  run: string;
  rules: RolloutRules;
  /** The total number of steps. */
  steps: number;
  maxInfrastructureFailures?: number;
  /** The next step, and the version that it trains from. */
  position: Pick<TrainingProgress, "nextStep" | "policyVersion">;
  /** Returns the ids of a step's tasks, or of those that replace some of them. */
  draw(step: number, replacement?: Replacement): Promise<string[]>;
  /**
   * Starts the step's shard number `index`. Resolves when the shard has started. `ended` resolves to the
   * results that the shard has not sent by signal, or rejects with ROLLOUT_LOST.
   */
  startShard(shard: Shard<OpenGroup>, index: number): Promise<{ ended: Promise<TrajectorySummary[]> }>;
  /** Returns the results of ended trajectories from the run's records. */
  readEnded(trajectories: string[]): Promise<TrajectorySummary[]>;
}

/**
 * Rolls out all trajectories of a run or an evaluation. Starts groups in shards as capacity and staleness
 * allow, and collects the results that the shards send by signal. rollout-state.ts has the rules, and
 * decision 0024 explains why no result is lost.
 */
export function openRollout(options: Options, begun: RolloutProgress): Rollout {
  const { run, rules, position } = options;
  const execution = workflowInfo().firstExecutionRunId;
  const drawn = new Map<number, Promise<GroupPlace[]>>();
  let state = begun;
  let round = begun.open.length > 0 ? 1 : 0;
  let isAwaited = false;
  let inTraining = 0;
  let shardsLive = 0;
  let shardsBegun = 0;
  let isClosed = false;
  let isStarting = false;
  let failed: Error | undefined;
  let news: TrajectorySummary[] = [];

  function now(): StepPosition {
    const { nextStep: step, policyVersion } = position;
    return { step, policyVersion, stepsLeft: options.steps - (step - 1), inTraining, isAwaited, round };
  }

  setHandler(trajectoriesEnded, (told) => {
    if (told.execution === execution) gather(told.ended); // otherwise its groups have been restarted
  });

  function gather(ended: TrajectorySummary[]): void {
    news.push(...ended);
  }

  /**
   * Counts all news of one workflow task together. Hundreds of signals may arrive at once, and each count
   * visits all groups.
   */
  async function countNews(): Promise<never> {
    for (;;) {
      await condition(() => news.length > 0);
      countEnded();
    }
  }

  function countEnded(): void {
    if (news.length === 0) return;
    const ended = news;
    news = [];
    for (const result of ended) failed ??= endOfRun(result);
    state = withEnded(state, ended, rules, position.nextStep);
    const since = sinceLastStep(state, position.nextStep);
    if (isWhole(since.length)) failed ??= tooMany(since);
  }

  /**
   * Whether enough trajectories have ended to judge the share of failures: as many as a step has. A
   * synchronous step waits for all that it drew.
   */
  function isWhole(ended: number): boolean {
    return rules.staleness === 0 ? state.open.every(hasEnded) : ended >= rules.groups * rules.groupSize;
  }

  function tooMany(results: EndedGroup["results"]): Error | undefined {
    return tooManyFailures({ run, step: position.nextStep }, results, options.maxInfrastructureFailures);
  }

  async function startGroups(): Promise<void> {
    for (;;) {
      await condition(() => isClosed || (failed === undefined && startable() > 0));
      if (isClosed) return;
      isStarting = true;
      try {
        await startSome(startable());
      } finally {
        isStarting = false;
      }
    }
  }

  /** Starts waiting groups first, then new ones. */
  async function startSome(count: number): Promise<void> {
    const waiting = state.open.filter(({ isStarted }) => !isStarted).length;
    if (waiting < count) await admit(count - waiting);
    const admittedNow = state.open.filter(({ isStarted }) => !isStarted).slice(0, count);
    for (const shard of inShards(admittedNow, rules.concurrency)) {
      await condition(() => shardsLive < rules.concurrency);
      await start(shard);
    }
  }

  /** Admits the next groups in the order of the data, or groups that replace others. */
  async function admit(count: number): Promise<void> {
    const next = rules.staleness === 0 ? nextRound(state, rules, now()) : undefined;
    if (next === undefined || next.round === 1) await admitNext(count);
    else await admitOthers(next);
    if (next !== undefined) round = next.round;
  }

  async function admitNext(count: number): Promise<void> {
    const { groups, staleness } = rules;
    const fresh: OpenGroup[] = [];
    let number = state.nextGroup;
    for (; fresh.length < count; number++) {
      const step = Math.ceil(number / groups);
      const place = (await placesOf(step))[(number - 1) % groups];
      if (place === undefined) throw failure("BATCH_EMPTY", { run, step, reason: "it has no tasks" });
      fresh.push(admitted(staleness === 0 ? place : { ...place, number }, position.policyVersion));
    }
    state = { ...state, nextGroup: number, open: [...state.open, ...fresh] };
  }

  function placesOf(step: number): Promise<GroupPlace[]> {
    const known = drawn.get(step);
    if (known !== undefined) return known;
    drawn.clear(); // steps are drawn in order
    const drawing = options.draw(step).then((tasks) => groupPlaces(step, tasks, rules.groupSize));
    drawn.set(step, drawing);
    return drawing;
  }

  async function admitOthers({ round: next, count }: { round: number; count: number }): Promise<void> {
    const { nextStep: step, policyVersion } = position;
    const before = state.open.map(({ task }) => task);
    const tasks = await options.draw(step, { round: next, count, drawn: before });
    const places = groupPlaces(step, [...before, ...tasks], rules.groupSize).slice(before.length);
    const groups = places.map((place) => admitted({ ...place, round: next }, policyVersion));
    state = { ...state, open: [...state.open, ...groups] };
  }

  async function start({ groups, concurrency }: Shard<OpenGroup>): Promise<void> {
    const { policyVersion } = position;
    const started = new Map(
      groups.map((group) => {
        const oldest = Math.min(group.policyVersion, policyVersion);
        return [group, { ...group, isStarted: true, policyVersion: oldest }];
      }),
    );
    state = { ...state, open: state.open.map((group) => started.get(group) ?? group) };
    shardsLive += 1;
    shardsBegun += 1;
    const shard = { groups: [...started.values()], concurrency };
    const { ended } = await options.startShard(shard, shardsBegun);
    ended.then(
      (untold) => {
        shardsLive -= 1;
        gather(untold);
        askForLost(shard.groups).catch((error) => {
          failed ??= error;
        });
      },
      (error) => {
        shardsLive -= 1;
        failed ??= error;
      },
    );
  }

  /**
   * Reads the results that an ended shard sent but this instance does not know. A shard reports every
   * trajectory before it ends, so the instance has missed events. A plain Error fails the task, and the
   * worker rebuilds the instance from the history. If even the history lacks the results, the run's records
   * have them (decision 0107).
   */
  async function askForLost(groups: readonly OpenGroup[]): Promise<void> {
    const lost = notEnded(run, withEnded(state, news, rules, position.nextStep), groups);
    if (lost.length === 0) return;
    if (!isBuiltAnew()) throw new Error(`Lost results: ${lost.length}. Rebuilding from the history.`);
    gather(await options.readEnded(lost));
  }

  /**
   * Derives a value from the state. Conditions check it after each signal, so it is computed again only when
   * the state or the position has changed.
   */
  function derived<Result>(find: (state: RolloutProgress, position: StepPosition) => Result): () => Result {
    let known: { state: RolloutProgress; position: StepPosition; result: Result } | undefined;
    return () => {
      const at = now();
      if (known?.state !== state || !isSame(known.position, at)) {
        known = { state, position: at, result: find(state, at) };
      }
      return known.result;
    };
  }
  const startable = derived((current, at) => toStart(current, rules, at));
  const takeable = derived((current, at) => taken(current, rules, at));

  for (const going of [countNews(), startGroups()]) {
    going.catch((error) => {
      failed ??= error;
    });
  }

  return {
    nextStep: async () => {
      if (rules.staleness === 0) state = { ...state, nextGroup: (position.nextStep - 1) * rules.groups + 1 };
      countEnded();
      state = withoutStale(state, rules, now());
      isAwaited = true;
      await condition(() => failed !== undefined || takeable() !== undefined);
      const step = failed === undefined ? takeable() : undefined;
      isAwaited = false;
      if (step === undefined) throw failed;
      const failures = tooMany(step.groups.flatMap((group) => group.results));
      if (failures !== undefined) throw failures;
      state = step.left;
      inTraining = step.trained;
      round = 0;
      shardsBegun = 0;
      return defined({ groups: step.groups, cursor: rules.staleness === 0 ? undefined : groupCursor(state) });
    },
    trained: () => {
      inTraining = 0;
    },
    progress: () => {
      if (rules.staleness === 0) return { done: endedIn(state.open), of: samplesIn(state.open) };
      const of = rules.groups * rules.groupSize;
      return { done: Math.min(of, sinceLastStep(state, position.nextStep).length), of };
    },
    close: async () => {
      isClosed = true;
      await condition(() => !isStarting);
      countEnded();
      return state;
    },
  };
}

function isSame(a: StepPosition, b: StepPosition): boolean {
  return (
    a.step === b.step &&
    a.policyVersion === b.policyVersion &&
    a.stepsLeft === b.stepsLeft &&
    a.inTraining === b.inTraining &&
    a.isAwaited === b.isAwaited &&
    a.round === b.round
  );
}

function endedIn(groups: readonly OpenGroup[]): number {
  return groups.reduce((sum, { results }) => sum + Object.keys(results).length, 0);
}
