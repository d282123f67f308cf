import { join } from "node:path";
import { pluginChecks } from "everturn/testing";
import { describe, expect, it } from "vitest";
import rank from "../../../plugins/reward-group-rank/index.ts";
import type { JsonObject } from "../../../src/contracts/json.ts";
import type { GroupMember } from "../../../src/contracts/reward.ts";

function scored(config: JsonObject, ...members: Partial<GroupMember>[]) {
  return rank.scoreGroup({
    task: { data_source: "test", prompt: [], reward_model: { ground_truth: "" } },
    members: members.map((one, sample) => ({
      sample,
      turns: [],
      outcome: "answered",
      answer: "",
      reward: 0,
      success: false,
      metrics: {},
      ...one,
    })),
    config,
    signal: new AbortController().signal,
  });
}

const earned = (...rewards: number[]) => rewards.map((reward) => ({ reward }));
const place = (reward: number, position: number) => ({ reward, metrics: { rank: position } });

describe("reward-group-rank", () => {
  it("gives the share of the others that one beats, less the share that beats it", () => {
    expect(scored({}, ...earned(0.1, 7, -3))).toEqual([place(0, 2), place(1, 1), place(-1, 3)]);
    expect(scored({ best: "least" }, ...earned(0.1, 7, -3))).toEqual([
      place(0, 2),
      place(-1, 3),
      place(1, 1),
    ]);
    expect(scored({}, ...earned(1, 1, 0, 1, 2))).toEqual([
      place(0, 2),
      place(0, 2),
      place(-1, 5),
      place(0, 2),
      place(1, 1),
    ]);
    expect(scored({}, ...earned(5, 5))).toEqual([place(0, 1), place(0, 1)]);
  });

  it("has no score for one that is alone, or that lacks what is compared", () => {
    const alone = "there is no other trajectory in its group to compare it with";
    expect(scored({}, ...earned(1))).toEqual([{ missing: alone }]);
    const metrics = [{ metrics: { judge: 3 } }, {}, { metrics: { judge: 4 } }];
    const none = { missing: "the trajectory has no metric “judge”" };
    expect(scored({ by: "judge" }, ...metrics)).toEqual([place(-1, 2), none, place(1, 1)]);
    expect(scored({ by: "judge" }, ...metrics.slice(0, 2))).toEqual([{ missing: alone }, none]);
    expect(scored({ by: "toString" }, {}, {})).toEqual(
      Array(2).fill({ missing: "the trajectory has no metric “toString”" }),
    );
    expect(scored({})).toEqual([]);
  });

  it("sums to 0 over a group, whatever is in it", () => {
    for (let size = 2; size < 40; size++) {
      const rewards = Array.from({ length: size }, (_, index) => (index * 7919) % 11);
      const scores = [scored({}, ...earned(...rewards))].flat();
      const total = scores.reduce((sum, one) => sum + ("reward" in one ? one.reward : Number.NaN), 0);
      expect(total).toBeCloseTo(0, 9);
    }
  });
});

it("keeps what a reward of groups promises", async () => {
  const checks = await pluginChecks(join(import.meta.dirname, "../../../plugins/reward-group-rank"));
  expect(checks.map(({ promise }) => promise)).toEqual(
    expect.arrayContaining(["answers", "order", "purity", "retry", "concurrency", "death of a worker"]),
  );
  for (const { run } of checks) await run();
});
