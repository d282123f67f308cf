import type { ResolvedPlugin } from "../../contracts/plan.ts";
import type { GroupMember, GroupScore, Unscored } from "../../contracts/reward.ts";
import type { OpenReward } from "../../work/tools/open-reward.ts";
import { type PluginCheckOptions, type RewardCase, taskOf } from "./cases.ts";
import { Broken, brokenBy, type PluginCheck, type PromiseName, pluginCheck } from "./promise.ts";
import { purityCheck, resolvedReward, withReward } from "./reward-checks.ts";
import { oddTexts } from "./sample-values.ts";

type Scores = (GroupScore | Unscored)[];

/**
 * The promises of a group reward. Its cases form one group, and their `reward` is the score of the pipeline's other
 * rewards.
 */
export function groupRewardChecks(plugin: ResolvedPlugin, options: PluginCheckOptions): PluginCheck[] {
  const { name, config } = plugin;
  const resolved = resolvedReward(plugin);
  const own = (options.cases ?? []).filter((one): one is RewardCase => "answer" in one);
  const usual: RewardCase[] = [
    { answer: "42", reward: 1, success: true },
    { answer: "41", reward: 0.5 },
    { answer: "no idea" },
    { answer: "", outcome: "turn-limit" },
  ];
  const members = (own.length > 0 ? own : usual).map(memberOf);
  const odd = oddTexts.map((answer, sample) => memberOf({ answer, reward: sample % 3 }, sample));
  const check = (promise: PromiseName, says: string, look: () => Promise<void>, isBasis = false) =>
    pluginCheck(name, promise, says, look, isBasis);
  const task = taskOf(options);
  const scored = async ({ plugin: reward }: OpenReward, group: GroupMember[]): Promise<Scores> => {
    try {
      return await reward.scoreGroup({ task, members: group, config, signal: new AbortController().signal });
    } catch (error) {
      throw brokenBy(`scoring a group of ${group.length} failed`, error);
    }
  };
  const each = (...groups: GroupMember[][]) =>
    withReward(resolved, async (opened) => {
      const all: Scores[] = [];
      for (const group of groups) all.push(await scored(opened, group));
      return all;
    });
  return [
    check("loading", "it loads in its own thread", async () => void (await each()), true),
    check(
      "answers",
      "it scores each member of a group, even of a group of one",
      async () => void (await each(members, ...members.map((one) => [one]))),
      true,
    ),
    check("odd values", "it compares every answer: empty, huge, non-ASCII, with control tokens", async () => {
      await each(odd);
    }),
    check("order", "a score does not depend on the order of the members", async () => {
      const [forth = [], back = []] = await each(members, members.toReversed());
      alike(forth, back.toReversed(), "in another order");
    }),
    purityCheck(plugin),
    check("retry", "the same group gets the same scores again", async () => {
      const [first = [], again = []] = await each(members, members);
      alike(first, again, "scored again");
    }),
    check("concurrency", "concurrent scoring of groups returns the same scores", async () => {
      const [alone = []] = await each(members);
      const together = await withReward(resolved, (opened) =>
        Promise.all([members, odd, members].map((group) => scored(opened, group))),
      );
      for (const index of [0, 2]) alike(alone, together[index] ?? [], "scored together with others");
    }),
    check("death of a worker", "another worker returns the same scores", async () => {
      const [first = []] = await each(members);
      const [, other = []] = await each(odd, members);
      alike(first, other, "scored in another worker");
    }),
  ];
}

function memberOf(
  { answer, turns, outcome = "answered", reward = 0, success = false }: RewardCase,
  sample: number,
): GroupMember {
  const own = turns ?? [{ action: answer, toolCalls: [] }];
  return { sample, answer, outcome, turns: own, reward, success, metrics: {} };
}

function alike(before: Scores, after: Scores, when: string): void {
  for (const [index, score] of after.entries()) {
    const [now, then] = [score, before[index]].map((one) => JSON.stringify(one));
    if (now === then) continue;
    throw new Broken(
      `member ${index} of a group, ${when}, got ${now} instead of ${then}`,
      "Compute the scores only from the trajectories and their task: no clock, no random numbers, no state in the module.",
    );
  }
}
