import { isDeepStrictEqual } from "node:util";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import type { ResolvedPlugin, ResolvedReward } from "../../contracts/plan.ts";
import type { Score, ScoreRequest, Unscored } from "../../contracts/reward.ts";
import { callSettings, plainReward } from "../../plan/pipeline/resolve/call-settings.ts";
import { settingsOfHost } from "../../plan/pipeline/resolve/host-settings.ts";
import { pluginThread } from "../../plugin/host/plugin-thread.ts";
import { type OpenReward, openReward } from "../../work/tools/open-reward.ts";
import { createToolHost } from "../../work/tools/tool-host.ts";
import { type PluginCheckOptions, type RewardCase, taskOf } from "./cases.ts";
import { Broken, brokenBy, type PluginCheck, type PromiseName, pluginCheck } from "./promise.ts";
import { oddTexts } from "./sample-values.ts";
import { begun, grace, isDoneWithin, shortened } from "./tool-subject.ts";

/** Answers that every reward manager meets, in addition to odd ones. */
const usual: readonly RewardCase[] = [
  { answer: "42" },
  { answer: "no idea" },
  { answer: "", outcome: "turn-limit" },
  { answer: "", outcome: "token-limit" },
];

/** The promises of a reward manager. */
export function rewardChecks(plugin: ResolvedPlugin, options: PluginCheckOptions): PluginCheck[] {
  const { manifest, name } = plugin;
  const resolved = resolvedReward(plugin);
  const own = (options.cases ?? []).filter((one): one is RewardCase => "answer" in one);
  const cases = own.length > 0 ? own : usual;
  const odd = [...usual, ...oddTexts.map((answer): RewardCase => ({ answer }))];
  const check = (promise: PromiseName, says: string, look: () => Promise<void>, isBasis = false) =>
    pluginCheck(name, promise, says, look, isBasis);
  const scored = async ({ plugin: reward }: OpenReward, one: RewardCase): Promise<Score | Unscored> => {
    try {
      return await reward.score(requestOf(one, new AbortController().signal));
    } catch (error) {
      throw brokenBy(`scoring ${caseText(one)} failed`, error);
    }
  };
  const each = (list: readonly RewardCase[]) =>
    withReward(resolved, async (opened) => {
      const scores: (Score | Unscored)[] = [];
      for (const one of list) scores.push(await scored(opened, one));
      return scores;
    });
  return [
    check("loading", "it loads in its own thread", async () => void (await each([])), true),
    check("time-out", "each case is scored within its time-out", async () => void (await each(cases)), true),
    check("answers", "each case gets its expected score", async () => {
      for (const [index, score] of (await each(cases)).entries()) {
        const one = cases[index];
        if (one === undefined || isAsSaid(score, one)) continue;
        throw new Broken(`${caseText(one)} got ${JSON.stringify(score)}`, "Correct the reward, or the case.");
      }
    }),
    check(
      "odd values",
      "it scores every answer: empty, huge, non-ASCII, with control tokens, cut by a limit",
      async () => {
        await each(odd);
      },
    ),
    purityCheck(plugin),
    check("retry", "the same trajectory gets the same score again", async () => {
      const both = await each([...cases, ...cases]);
      alike(cases, both.slice(0, cases.length), both.slice(cases.length), "scored again");
    }),
    check("signal", "a score ends soon after its signal is aborted", () => heedsSignal(resolved, cases)),
    check("concurrency", "concurrent scoring returns the same scores", async () => {
      const alone = await each(cases);
      const together = await withReward(resolved, (opened) =>
        Promise.all([...cases, ...cases, ...cases].map((one) => scored(opened, one))),
      );
      alike(cases, alone, together, "scored together with others");
    }),
    check("death of a worker", "another worker returns the same scores", async () => {
      alike(
        cases,
        await each(cases),
        await each(cases.toReversed()).then((scores) => scores.reverse()),
        "scored in another worker, in another order",
      );
    }),
  ];

  function requestOf(
    { answer, groundTruth, turns, snapshots = {}, recorded = [], outcome = "answered" }: RewardCase,
    signal: AbortSignal,
  ): ScoreRequest {
    const turn = { action: answer, toolCalls: [] };
    const states = Object.entries(snapshots).map(([tool, state]) => [tool, Buffer.from(state)]);
    return defined({
      task: taskOf(options, groundTruth),
      turns: turns ?? [turn],
      outcome,
      answer,
      config: plugin.config,
      snapshots: manifest.reward?.snapshots === true ? Object.fromEntries(states) : undefined,
      recorded: manifest.reward?.recorded === true ? recorded : undefined,
      signal,
    });
  }

  async function heedsSignal(reward: ResolvedReward, list: readonly RewardCase[]): Promise<void> {
    const limit = Math.max(reward.calls.timeout, grace * 2);
    const timedOut = () => new EverturnError("REWARD_TIMED_OUT", { reward: name, seconds: limit / 1000 });
    const failed = (reason: string) => new EverturnError("REWARD_FAILED", { reward: name, reason });
    const thread = pluginThread({
      kind: "reward",
      plugin: reward,
      limit,
      errors: { timedOut, failed },
      log: () => {},
    });
    try {
      await thread.functions();
      for (const one of list) {
        const controller = new AbortController();
        const over = Promise.withResolvers<void>();
        const { signal, ...request } = requestOf(one, controller.signal);
        thread.ask("score", request, { signal, onOver: over.resolve }).catch(() => {}); // nobody waits for it
        await begun();
        controller.abort(timedOut());
        if (await isDoneWithin(over.promise, grace)) continue;
        throw new Broken(
          `scoring ${caseText(one)} continued for more than ${grace / 1000} s after its signal was aborted`,
          "Pass `signal` on: fetch(url, { signal }).",
        );
      }
    } finally {
      await thread.close();
    }
  }
}

/** A reward with the default settings of a pipeline. */
export function resolvedReward(plugin: ResolvedPlugin): ResolvedReward {
  const { name, manifest } = plugin;
  return { ...plugin, calls: callSettings(name, manifest.reward ?? plainReward, {}), weight: 1 };
}

/** The promise of a reward that declares `pure`. */
export function purityCheck({ name, manifest }: ResolvedPlugin): PluginCheck {
  return pluginCheck(name, "purity", "a `pure` reward has no capabilities", async () => {
    const [first] = Object.entries(manifest.capabilities ?? {}).filter(([, does]) => does === true);
    if (manifest.reward?.pure !== true || first === undefined) return;
    throw new Broken(
      `it sets both pure: true and capabilities.${first[0]}: true`,
      "Remove `pure`: a pure reward only computes, and runs where workflows run.",
    );
  });
}

function isAsSaid(score: Score | Unscored, { reward, success, turnRewards, missing }: RewardCase): boolean {
  const wanted = { reward, success, turns: turnRewards };
  const said = Object.entries(wanted).filter(([, value]) => value !== undefined);
  if ("missing" in score) return missing !== false && said.length === 0;
  return missing !== true && said.every(([key, value]) => isDeepStrictEqual(Reflect.get(score, key), value));
}

function caseText({ answer }: RewardCase): string {
  return `the answer ${shortened(JSON.stringify(answer))}`;
}

function alike(
  cases: readonly RewardCase[],
  before: (Score | Unscored)[],
  after: (Score | Unscored)[],
  when: string,
): void {
  for (const [index, score] of after.entries()) {
    const expected = JSON.stringify(before[index % cases.length]);
    const one = cases[index % cases.length];
    if (one === undefined || JSON.stringify(score) === expected) continue;
    throw new Broken(
      `${caseText(one)}, ${when}, got ${JSON.stringify(score)} instead of ${expected}`,
      "Compute the score only from the trajectory and its task: no clock, no random numbers, no state in the module.",
    );
  }
}

/** Keeps a reward open in a thread of its own while `work` runs. */
export async function withReward<T>(
  resolved: ResolvedReward,
  work: (opened: OpenReward) => Promise<T>,
): Promise<T> {
  const { calls, name } = resolved;
  const host = createToolHost(name, settingsOfHost({ hosts: {} }, name), () => {});
  const opened = await openReward(resolved, calls, host, () => {});
  try {
    return await work(opened);
  } finally {
    host.breaker.close();
    await opened.close();
  }
}
