import {
  type EndedGroup,
  type GroupCursor,
  type GroupPlace,
  largestStep,
  type OpenGroup,
  type RolloutProgress,
  type TrajectorySummary,
} from "../src/contracts/rollout.ts";
import type { RunSettings } from "../src/contracts/run-settings.ts";
import { trajectoryId } from "../src/contracts/trajectory-id.ts";
import { admissible, chooseGroups, type RolloutLimits } from "./admission.ts";
import { reasonToReplace } from "./ended-groups.ts";
import { endedGroup, hasEnded } from "./open-groups.ts";

/** A run's limits, and the rules for replacing groups. */
export interface RolloutRules extends RolloutLimits, Pick<RunSettings, "minGroup" | "dynamicSampling"> {
  /** The maximum number of sampling rounds in a step, including the first. */
  rounds: number;
}

/** The position of the run in its steps. */
export interface StepPosition {
  /** The current or next step. */
  step: number;
  policyVersion: number;
  /** The number of steps still to take. */
  stepsLeft: number;
  /** The number of groups that the current step trains on. */
  inTraining: number;
  /** The step waits for its groups. */
  isAwaited: boolean;
  /** The number of sampling rounds drawn for the step. */
  round: number;
}

/** The state of a new rollout. */
export function emptyRollout(nextGroup = 1): RolloutProgress {
  return { nextGroup, open: [], leftOut: [] };
}

/**
 * Returns `state` with the results of ended trajectories. Each result counts once. Results for groups that
 * are not open are ignored.
 */
export function withEnded(
  state: RolloutProgress,
  results: readonly TrajectorySummary[],
  rules: RolloutRules,
  step: number,
): RolloutProgress {
  const news = new Map<string, Map<number, TrajectorySummary>>();
  for (const result of results) {
    const { group, sample } = placeIn(result.trajectory);
    const known = news.get(group) ?? new Map<number, TrajectorySummary>();
    news.set(group, known.set(sample, result));
  }
  const open = state.open.map((group) => {
    const own = news.get(`${group.stage}/${group.task}`);
    return own === undefined ? group : withResults(group, own);
  });
  const before = new Set(state.open);
  const changed = open.filter((group) => !before.has(group) && hasEnded(group));
  return rules.staleness === 0
    ? { ...state, open }
    : changed.reduce((next, group) => replacedAtOnce(next, group, rules, step), { ...state, open });
}

/**
 * Returns the ids of the trajectories of `groups` that have not ended. In groups that are no longer open, all
 * have ended.
 */
export function notEnded(run: string, { open }: RolloutProgress, groups: readonly GroupPlace[]): string[] {
  const idsOf = ({ stage, task }: GroupPlace, samples: readonly number[]) =>
    samples.map((sample) => trajectoryId({ run, stage, task, sample }));
  const asked = new Set(groups.flatMap((group) => idsOf(group, group.samples))); // a task may be in several groups
  const left = open.flatMap((group) =>
    idsOf(
      group,
      group.samples.filter((sample) => group.results[sample] === undefined),
    ),
  );
  return left.filter((id) => asked.has(id));
}

/** The group and the sample in a trajectory's id, `run/stage/task/sample`. */
function placeIn(trajectory: string): { group: string; sample: number } {
  const [stage = "", task = "", sample = ""] = trajectory.split("/").slice(-3);
  return { group: `${stage}/${task}`, sample: Number(sample) };
}

function withResults(group: OpenGroup, news: ReadonlyMap<number, TrajectorySummary>): OpenGroup {
  const fresh = group.samples.filter((sample) => news.has(sample) && group.results[sample] === undefined);
  if (fresh.length === 0) return group;
  const results = { ...group.results };
  let { policyVersion } = group;
  for (const sample of fresh) {
    const result = news.get(sample);
    if (result === undefined) continue;
    results[sample] = result;
    policyVersion = Math.min(policyVersion, result.policyVersion);
  }
  return { ...group, results, policyVersion };
}

/**
 * In an asynchronous run, a group is replaced as soon as it ends, within the number of replacements that the
 * rounds of synchronous steps would allow.
 */
function replacedAtOnce(
  state: RolloutProgress,
  group: OpenGroup,
  rules: RolloutRules,
  step: number,
): RolloutProgress {
  const reason = reasonToReplace(endedGroup(group, step), rules);
  const most = Math.min(rules.groups * (rules.rounds - 1), roomFor(rules.groups, rules));
  const isBounded = state.leftOut.length < most;
  return reason === undefined || !isBounded ? state : leaveOut(state, group, reason, step);
}

function leaveOut(
  state: RolloutProgress,
  group: OpenGroup,
  leftOut: NonNullable<EndedGroup["leftOut"]>,
  step: number,
): RolloutProgress {
  return {
    ...state,
    open: state.open.filter((one) => one !== group),
    leftOut: [...state.leftOut, { ...endedGroup(group, step), leftOut }],
  };
}

/**
 * Leaves out the groups that are too old for the step that begins. A committed step keeps all of its groups.
 */
export function withoutStale(
  state: RolloutProgress,
  { staleness }: RolloutRules,
  { step, policyVersion }: StepPosition,
): RolloutProgress {
  if (state.committed !== undefined) return state;
  const isStale = (group: OpenGroup) => hasEnded(group) && group.policyVersion < policyVersion - staleness;
  return state.open.filter(isStale).reduce((next, group) => leaveOut(next, group, "stale", step), state);
}

/** Returns how many groups should start now, including admitted groups that wait. */
export function toStart(state: RolloutProgress, rules: RolloutRules, position: StepPosition): number {
  const waiting = state.open.filter(({ isStarted }) => !isStarted).length;
  if (rules.staleness === 0) {
    if (!position.isAwaited) return 0;
    return waiting > 0 ? waiting : (nextRound(state, rules, position)?.count ?? 0);
  }
  const admitted = state.open.length - waiting + position.inTraining;
  return admissible(rules, { admitted, running: running(state), stepsLeft: position.stepsLeft });
}

/** Counts the trajectories in progress. */
function running({ open }: RolloutProgress): number {
  const started = open.filter(({ isStarted }) => isStarted);
  return started.reduce((sum, { samples, results }) => sum + samples.length - Object.keys(results).length, 0);
}

/**
 * Returns the round of sampling that a synchronous step draws next. The first round draws the step's groups.
 * Later rounds replace groups once all of the step's groups have ended. Undefined while some groups run or
 * when no replacement is needed.
 */
export function nextRound(
  { open }: RolloutProgress,
  rules: RolloutRules,
  { round, step }: StepPosition,
): { round: number; count: number } | undefined {
  if (round === 0) return { round: 1, count: rules.groups };
  if (round >= rules.rounds || !open.every(hasEnded)) return undefined;
  const kept = open.filter((group) => reasonToReplace(endedGroup(group, step), rules) === undefined);
  const count = Math.min(open.filter(isOfFirstRound).length - kept.length, roomFor(open.length, rules));
  return count <= 0 ? undefined : { round: round + 1, count };
}

/** The number of groups that a step of `groups` can take in addition. */
function roomFor(groups: number, { groupSize }: RolloutRules): number {
  return Math.max(0, Math.floor(largestStep / groupSize) - groups);
}

function isOfFirstRound(group: OpenGroup | undefined): boolean {
  return group?.round === undefined;
}

/**
 * Returns the groups for the step, together with those that were left out since the last step. Undefined
 * while the step must wait.
 */
export function taken(
  state: RolloutProgress,
  rules: RolloutRules,
  position: StepPosition,
): { groups: EndedGroup[]; trained: number; left: RolloutProgress } | undefined {
  if (rules.staleness === 0) return takenWhole(state, rules, position);
  const groups = chosen(state, rules, position.policyVersion);
  if (groups === undefined) return undefined;
  const { committed: _committed, ...kept } = state;
  const isTaken = new Set(groups);
  return {
    groups: [...groups.map((group) => endedGroup(group, position.step)), ...state.leftOut],
    trained: groups.length,
    left: { ...kept, open: state.open.filter((group) => !isTaken.has(group)), leftOut: [] },
  };
}

/**
 * A synchronous step takes all groups. If every group should be replaced, it trains on those of the first
 * round.
 */
function takenWhole(
  state: RolloutProgress,
  rules: RolloutRules,
  position: StepPosition,
): ReturnType<typeof taken> {
  const { open } = state;
  if (!open.every(hasEnded) || nextRound(state, rules, position) !== undefined) return undefined;
  const ended = open.map((group) => endedGroup(group, position.step));
  const reasons = ended.map((group) => reasonToReplace(group, rules));
  const isAnyKept = reasons.includes(undefined);
  const groups = ended.map((group, index) => {
    const leftOut = isAnyKept || !isOfFirstRound(open[index]) ? reasons[index] : undefined;
    return leftOut === undefined ? group : { ...group, leftOut };
  });
  return { groups, trained: groups.length, left: { ...state, open: [], leftOut: [] } };
}

/** The position in the sequence of groups. */
export function groupCursor({ open, nextGroup: next }: RolloutProgress): GroupCursor {
  return { openFrom: open.reduce((lowest, { number = next }) => Math.min(lowest, number), next), next };
}

/** The groups of a committed step, or else those that the staleness rules choose. */
function chosen(
  { open, committed }: RolloutProgress,
  rules: RolloutRules,
  policyVersion: number,
): OpenGroup[] | undefined {
  if (committed !== undefined) {
    const isCommitted = new Set(committed);
    const groups = open.filter(({ number = 0 }) => isCommitted.has(number));
    return groups.every(hasEnded) ? groups : undefined;
  }
  const groups = open.map((group) => ({
    number: group.number ?? 0,
    policyVersion: group.policyVersion,
    isFinished: hasEnded(group),
  }));
  const numbers = chooseGroups(groups, policyVersion, rules);
  if (numbers === undefined) return undefined;
  const isChosen = new Set(numbers);
  return open.filter(({ number = 0 }) => isChosen.has(number));
}

/**
 * The trajectories of ended groups that no step has recorded. The share of failures is computed over them.
 */
export function sinceLastStep(state: RolloutProgress, step: number): TrajectorySummary[] {
  const ended = state.open.filter(hasEnded).map((group) => endedGroup(group, step));
  return [...state.leftOut, ...ended].flatMap(({ results }) => results);
}
