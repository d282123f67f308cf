import { setTimeout as sleep } from "node:timers/promises";
import type { TrajectoryRecord } from "../contracts/generated/trajectory.ts";
import type { ResolvedReward } from "../contracts/plan.ts";
import type { Score, ScoreRequest, Unscored } from "../contracts/reward.ts";
import { isEverturnError } from "../errors/everturn-error.ts";
import { settingsOfHost } from "../pipeline/host-settings.ts";
import { ahead } from "../promises/ahead.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { type TrajectoryName, trajectoryKey } from "../store/keys.ts";
import { addedScores } from "../tools/added-scores.ts";
import { callFailure } from "../tools/call-failure.ts";
import { createHost, type ToolHost } from "../tools/host.ts";
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
      for await (const one of ahead(items, together, (name) => rescored(reader, name, rewards, opened))) {
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
    now: await scoredNow(reader, name, record, rewards, opened),
  };
}

async function scoredNow(
  reader: TrajectoryReader,
  name: TrajectoryName,
  record: TrajectoryRecord,
  rewards: readonly ResolvedReward[],
  opened: readonly OpenReward[],
): Promise<RescoredTrajectory["now"]> {
  const { task, turns, outcome, answer = "" } = record;
  const { signal } = new AbortController();
  try {
    const parts = await scoreParts(rewards, task, {
      recorded: (_, ask) => ask(async () => {}),
      ask: async ({ index, config, calls }) => {
        const one = opened[index];
        if (one === undefined) throw new Error(`There is no reward ${index}.`);
        return asked(one, { task, turns, outcome, answer, config, signal }, calls.retry);
      },
    });
    if (parts.length === 0) return { missing: `no reward scores the data source “${task.data_source}”` };
    const { reward, success, metrics } = addedScores(parts);
    const total = reward + (await toolReward(reader, name, record));
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

/** What the tools gave. */
async function toolReward(
  reader: TrajectoryReader,
  name: TrajectoryName,
  { turns }: TrajectoryRecord,
): Promise<number> {
  const last = turns.at(-1);
  const calls = (last?.toolCalls.length ?? 0) + (last?.unanswered ?? 0);
  const entries = await readTurns(reader, name, { turns: turns.length, calls });
  return entries.flatMap((entry) => entry.calls).reduce((total, { reward }) => total + reward, 0);
}
