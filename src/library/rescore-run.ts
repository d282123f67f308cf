import { setTimeout as sleep } from "node:timers/promises";
import type { TrajectoryRecord } from "../contracts/generated/trajectory.ts";
import type { ResolvedReward } from "../contracts/plan.ts";
import type { RecordedCall } from "../contracts/recorded-call.ts";
import type { Score, ScoreRequest, Unscored } from "../contracts/reward.ts";
import { isEverturnError } from "../errors/everturn-error.ts";
import { settingsOfHost } from "../pipeline/host-settings.ts";
import { ahead } from "../promises/ahead.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { type TrajectoryName, trajectoryKey } from "../store/keys.ts";
import { addedScores } from "../tools/added-scores.ts";
import { callFailure } from "../tools/call-failure.ts";
import { createHost, type ToolHost } from "../tools/host.ts";
import { lastSnapshots } from "../tools/last-snapshots.ts";
import { type OpenReward, openReward } from "../tools/open-reward.ts";
import { scoreParts } from "../tools/score-parts.ts";
import { type TrajectoryReader, trajectoryReader } from "../trajectory/reader.ts";
import { readTurns } from "../trajectory/turn-journal.ts";
import type { TrajectoryFilter } from "./list-trajectories.ts";

/** A trajectory of a run, as it was scored and as it is scored now; with what its tools gave. */
export interface RescoredTrajectory extends Pick<TrajectoryRecord, "id" | "outcome"> {
  recorded: Pick<TrajectoryRecord, "reward" | "success" | "metrics">;
  now: Pick<Score, "reward" | "success" | "metrics"> | Unscored;
}

/** Trajectories that are read and scored at once. */
const together = 16;

/**
 * Scores the trajectories of a run that were scored once more, in the order of their stages, as they are asked for. Nothing
 * of the run changes. Throws what names a mistake of a reward, PLUGIN_ENTRY_FAILED, PLUGIN_EXPORT_INVALID.
 */
export async function* rescoreRun(
  run: OpenRun,
  rewards: readonly ResolvedReward[],
  options: Pick<TrajectoryFilter, "stage" | "task"> & { log: (text: string) => void },
): AsyncGenerator<RescoredTrajectory> {
  const { log, stage, task } = options;
  const hosts = new Map<string, ToolHost>();
  const hostOf = (name: string) => {
    const host = hosts.get(name) ?? createHost(name, settingsOfHost(run.plan, name), () => {});
    hosts.set(name, host);
    return host;
  };
  const opening = rewards.map((reward) => openReward(reward, reward.calls, hostOf(reward.calls.host), log));
  try {
    const opened = await Promise.all(opening);
    const reader = trajectoryReader(run);
    for await (const { items } of reader.stages({ stage, task })) {
      const again = (name: TrajectoryName) => rescored(reader, run, name, rewards, opened);
      for await (const one of ahead(items, together, again)) {
        if (one !== undefined) yield one;
      }
    }
  } finally {
    for (const { breaker } of hosts.values()) breaker.close();
    for (const one of await Promise.allSettled(opening)) {
      if (one.status === "fulfilled") await one.value.close();
    }
  }
}

/** Undefined if it is under way, or was left out. */
async function rescored(
  reader: TrajectoryReader,
  run: OpenRun,
  name: TrajectoryName,
  rewards: readonly ResolvedReward[],
  opened: readonly OpenReward[],
): Promise<RescoredTrajectory | undefined> {
  const record = await reader.read(trajectoryKey(name));
  if (record === undefined) return undefined;
  const { id, outcome, reward, success, metrics } = record;
  return {
    ...{ id, outcome },
    recorded: { reward, success, ...(metrics === undefined ? {} : { metrics }) },
    now: await scoredNow(reader, run, name, record, rewards, opened),
  };
}

async function scoredNow(
  reader: TrajectoryReader,
  { plan, store }: OpenRun,
  name: TrajectoryName,
  record: TrajectoryRecord,
  rewards: readonly ResolvedReward[],
  opened: readonly OpenReward[],
): Promise<RescoredTrajectory["now"]> {
  const { task, turns, outcome, answer = "" } = record;
  const { signal } = new AbortController();
  const made = await recordedOf(reader, name, record);
  try {
    const parts = await scoreParts(rewards, task, {
      recorded: (_, ask) => ask(async () => {}),
      ask: async ({ index, config, calls, manifest }) => {
        const one = opened[index];
        if (one === undefined) throw new Error(`There is no reward ${index}.`);
        const wantsStates = manifest.reward?.snapshots === true;
        const states = wantsStates ? { snapshots: await lastSnapshots(plan.tools, made, store) } : {};
        return asked(one, { task, turns, outcome, answer, config, signal, ...states }, calls.retry);
      },
    });
    if (parts.length === 0) return { missing: `no reward scores the data source “${task.data_source}”` };
    const { reward, success, metrics } = addedScores(parts);
    const total = made.reduce((sum, call) => sum + call.reward, reward);
    return { reward: total, success, ...(metrics === undefined ? {} : { metrics }) };
  } catch (error) {
    if (!isEverturnError(error) || !isMissing.has(error.code)) throw error;
    return { missing: error.message };
  }
}

const isMissing = new Set<string>(["REWARD_GAVE_UP", "REWARD_MISSING", "TOOL_HOST_DOWN"]);

/** Asks as often as the reward may be asked. */
async function asked(
  reward: OpenReward,
  request: ScoreRequest,
  retry: ResolvedReward["calls"]["retry"],
): Promise<Score | Unscored> {
  const { signal } = request;
  const options = { slots: reward.slots, signal, onWait: () => {} };
  let wait = retry.initialInterval;
  for (let attempt = 1; ; attempt++) {
    try {
      return await reward.host.call(async () => reward.plugin.score(request), options);
    } catch (error) {
      const failure = callFailure(error);
      if (failure === undefined) throw error;
      const times = attempt === 1 ? "once" : `${attempt} times`;
      if (attempt >= retry.maximumAttempts) throw reward.gaveUp(times, failure.reason, error);
      await sleep(wait);
      wait = Math.min(wait * retry.backoffCoefficient, retry.maximumInterval);
    }
  }
}

/** Its calls, in order. */
async function recordedOf(
  reader: TrajectoryReader,
  name: TrajectoryName,
  { turns }: TrajectoryRecord,
): Promise<RecordedCall[]> {
  const last = turns.at(-1);
  const calls = (last?.toolCalls.length ?? 0) + (last?.unanswered ?? 0);
  const entries = await readTurns(reader, name, { turns: turns.length, calls });
  return entries.flatMap((entry) => entry.calls);
}
