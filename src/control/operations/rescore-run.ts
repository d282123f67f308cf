import { setTimeout as sleep } from "node:timers/promises";
import { ahead } from "../../base/async/ahead.ts";
import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import type { ResolvedReward } from "../../contracts/plan.ts";
import type { RecordedCall } from "../../contracts/recorded-call.ts";
import type { Score, Unscored } from "../../contracts/reward.ts";
import { stepOf } from "../../contracts/stages.ts";
import { settingsOfHost } from "../../plan/pipeline/resolve/host-settings.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { toolMetrics } from "../../run/projections/ended-turns.ts";
import { groupMember, scoredTurns } from "../../run/projections/policy-calls.ts";
import { type TrajectoryName, trajectoryKey } from "../../run/store/keys.ts";
import { type RecordReader, trajectoryReader } from "../../run/trajectory/reader.ts";
import { readTurns } from "../../run/trajectory/turn-journal.ts";
import { recordedResults } from "../../work/agents/recorded-results.ts";
import { addedScores } from "../../work/tools/added-scores.ts";
import { callFailure } from "../../work/tools/call-failure.ts";
import { compareGroups, scoreGroupParts, withGroupParts } from "../../work/tools/group-parts.ts";
import { lastSnapshots } from "../../work/tools/last-snapshots.ts";
import { type OpenReward, openReward } from "../../work/tools/open-reward.ts";
import { scoreParts } from "../../work/tools/score-parts.ts";
import { createToolHost, type ToolHost } from "../../work/tools/tool-host.ts";
import type { TrajectoryFilter } from "./list-trajectories.ts";

/** A trajectory of a run with its original score and its new score, which include the tools' rewards. */
export interface RescoredTrajectory extends Pick<Trajectory, "id" | "outcome"> {
  recorded: Pick<Trajectory, "reward" | "success" | "metrics">;
  now: Pick<Score, "reward" | "success" | "metrics"> | Unscored;
}

/** Trajectories that are read and scored at once. */
const together = 16;

/** The rewards that score now. */
interface Scoring {
  rewards: readonly ResolvedReward[];
  opened: readonly OpenReward[];
  /** Aborted when the rewards are closed. */
  signal: AbortSignal;
}

/**
 * Rescores the scored trajectories of a run on demand, in the order of their stages. The run does not change. Throws
 * errors that name a reward's mistake, PLUGIN_ENTRY_FAILED and PLUGIN_EXPORT_INVALID.
 */
export async function* rescoreRun(
  run: OpenRun,
  rewards: readonly ResolvedReward[],
  options: Pick<TrajectoryFilter, "stage" | "task"> & { log: (text: string) => void },
): AsyncGenerator<RescoredTrajectory> {
  const { log, stage, task } = options;
  const hosts = new Map<string, ToolHost>();
  const hostOf = (name: string) => {
    const host = hosts.get(name) ?? createToolHost(name, settingsOfHost(run.plan, name), () => {});
    hosts.set(name, host);
    return host;
  };
  const over = new AbortController();
  const opening = rewards.map((reward) => openReward(reward, reward.calls, hostOf(reward.calls.host), log));
  try {
    const scoring = { rewards, opened: await Promise.all(opening), signal: over.signal };
    const reader = trajectoryReader(run);
    for await (const { stage: own, items } of reader.stages({ stage, task })) {
      const again = async (name: TrajectoryName) => {
        const one = await rescored(reader, run, name, scoring);
        return one === undefined ? [] : [{ name, one }];
      };
      const isCompared = stepOf(own) !== undefined && compareGroups(rewards);
      const whole = async (group: readonly TrajectoryName[]) => {
        const ended = (await Promise.all(group.map(again))).flat();
        return isCompared ? comparedNow(reader, ended, scoring) : ended.map(({ one }) => one);
      };
      const { groupSize } = run.plan.rollout;
      const groups = isCompared ? groupsOf(items, groupSize) : items.map((name) => [name]);
      for await (const group of ahead(groups, isCompared ? 1 : together, whole)) yield* group;
    }
  } finally {
    over.abort(); // after an error, trajectories that are still read must not call rewards
    for (const { breaker } of hosts.values()) breaker.close();
    for (const one of await Promise.allSettled(opening)) {
      if (one.status === "fulfilled") await one.value.close();
    }
  }
}

/** Trajectories of a step that share an advantage baseline. */
function groupsOf(names: readonly TrajectoryName[], groupSize: number): TrajectoryName[][] {
  const groups = new Map<string, TrajectoryName[]>();
  for (const name of names) {
    const group = `${name.task}/${Math.floor(name.sample / groupSize)}`;
    groups.set(group, [...(groups.get(group) ?? []), name]);
  }
  return [...groups.values()];
}

/** The scored members of a group, with the current scores of the group rewards. */
async function comparedNow(
  reader: RecordReader,
  ended: readonly { name: TrajectoryName; one: RescoredTrajectory }[],
  { rewards, opened, signal }: Scoring,
): Promise<RescoredTrajectory[]> {
  const records = await Promise.all(
    ended.map(async ({ name, one: { now } }) => {
      const record = await reader.read(trajectoryKey(name));
      if (record === undefined || "missing" in now) return [];
      const made = await recordedOf(reader, name, record);
      return [{ ...record, ...now, metrics: { ...toolMetrics(made), ...now.metrics } }];
    }),
  );
  const own = records.flat();
  const [first] = own;
  if (first === undefined) return ended.map(({ one }) => one);
  const parts = await scoreGroupParts(rewards, first.task, async ({ index, config, calls }) => {
    const reward = opened[index];
    if (reward === undefined) throw new Error(`There is no reward ${index}.`);
    const request = { task: first.task, members: own.map(groupMember), config, signal };
    const said = await asked(reward, () => reward.plugin.scoreGroup(request), signal, calls.retry);
    return Object.fromEntries(said.map((score, at) => [own[at]?.sample, score]));
  });
  return ended.map(({ one }) => {
    const record = own.find(({ id }) => id === one.id);
    if (record === undefined) return one;
    const { outcome, reward, success, metrics, failure = "" } = withGroupParts(record, parts);
    if (outcome === "left-out") return { ...one, now: { missing: failure } };
    return { ...one, now: defined({ reward, success, metrics }) };
  });
}

/** Undefined if it is in progress or was left out. */
async function rescored(
  reader: RecordReader,
  run: OpenRun,
  name: TrajectoryName,
  scoring: Scoring,
): Promise<RescoredTrajectory | undefined> {
  const record = await reader.read(trajectoryKey(name));
  if (record === undefined) return undefined;
  const { id, outcome, reward, success, metrics } = record;
  return {
    id,
    outcome,
    recorded: defined({ reward, success, metrics }),
    now: await scoredNow(reader, run, name, record, scoring),
  };
}

async function scoredNow(
  reader: RecordReader,
  { plan, store }: OpenRun,
  name: TrajectoryName,
  record: Trajectory,
  { rewards, opened, signal }: Scoring,
): Promise<RescoredTrajectory["now"]> {
  const { task, turns, outcome, answer = "" } = record;
  const made = await recordedOf(reader, name, record);
  try {
    const parts = await scoreParts(rewards, task, {
      recorded: (_, ask) => ask(async () => {}),
      ask: async ({ index, config, calls, manifest }) => {
        const one = opened[index];
        if (one === undefined) throw new Error(`There is no reward ${index}.`);
        const wantsStates = manifest.reward?.snapshots === true;
        const states = wantsStates ? { snapshots: await lastSnapshots(plan.tools, made, store) } : {};
        const wantsResults = manifest.reward?.recorded === true;
        const results = wantsResults ? { recorded: await recordedResults(reader, name) } : {};
        const told = { ...states, ...results };
        const request = { task, turns: scoredTurns(turns), outcome, answer, config, signal, ...told };
        return asked(one, async () => one.plugin.score(request), signal, calls.retry);
      },
    });
    if (parts.length === 0) return { missing: `no reward scores the data source “${task.data_source}”` };
    const { reward, success, metrics } = addedScores(parts);
    const total = made.reduce((sum, call) => sum + call.reward, reward);
    return defined({ reward: total, success, metrics });
  } catch (error) {
    if (!isEverturnError(error) || !isMissing.has(error.code)) throw error;
    return { missing: error.message };
  }
}

const isMissing = new Set<string>(["REWARD_GAVE_UP", "REWARD_MISSING", "TOOL_HOST_DOWN"]);

/** Calls the reward with its allowed number of attempts. */
async function asked<Answer>(
  reward: OpenReward,
  ask: () => Promise<Answer> | Answer,
  signal: AbortSignal,
  retry: ResolvedReward["calls"]["retry"],
): Promise<Answer> {
  const options = { slots: reward.slots, signal, onWait: () => {} };
  let wait = retry.initialInterval;
  for (let attempt = 1; ; attempt++) {
    try {
      return await reward.host.call(async () => ask(), options);
    } catch (error) {
      const failure = callFailure(error);
      if (failure === undefined) throw error;
      const times = attempt === 1 ? "once" : `${attempt} times`;
      if (attempt >= retry.maximumAttempts) throw reward.gaveUp(times, failure.reason, error);
      await sleep(wait, undefined, { signal });
      wait = Math.min(wait * retry.backoffCoefficient, retry.maximumInterval);
    }
  }
}

/** Its calls, in order. */
async function recordedOf(
  reader: RecordReader,
  name: TrajectoryName,
  { turns }: Trajectory,
): Promise<RecordedCall[]> {
  const last = turns.at(-1);
  const calls = (last?.toolCalls.length ?? 0) + (last?.unanswered ?? 0);
  const entries = await readTurns(reader, name, { turns: turns.length, calls });
  return entries.flatMap((entry) => entry.calls);
}
