import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { groupAdvantages } from "../../../../src/engine/learning/group-advantages.ts";

// A published batch: 1,280 rollouts, the resets of 1,172 failed, and each was trained as a reward of 0. The same numbers in
// groups of eight: here with failures that are excluded, there with the rule reward = 0.
const [rollouts, failures, groupSize] = [1280, 1172, 8];

/** Draws numbers from 0 to 1, the same in each run (mulberry32). */
function draws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const draw = draws(1);
const all = Array.from({ length: rollouts }, (_, index) => ({
  group: String(Math.floor(index / groupSize)),
  reward: draw() < 0.6 ? 1 : 0,
  order: draw(),
}));
const failed = new Set([...all].sort((a, b) => a.order - b.order).slice(0, failures));
const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
const meanReward = (batch: readonly { reward: number }[]) => mean(batch.map(({ reward }) => reward));
const shown = (number: number) => {
  if (Number.isInteger(number)) return number.toLocaleString("en");
  return Math.abs(number) < 1e-12 ? "0" : number.toFixed(3);
};

function advantagesOf(batch: readonly { reward: number; group: string }[]): number[] {
  return groupAdvantages(
    batch.map(({ reward }) => reward),
    batch.map(({ group }) => group),
    false,
  );
}

test("failed resets of a published batch, excluded and as a reward of 0", () => {
  const survivors = all.filter((one) => !failed.has(one));
  const ours = advantagesOf(survivors);
  const peers = all.map((one) => (failed.has(one) ? { ...one, reward: 0 } : one));
  const theirs = advantagesOf(peers);
  const blamed = theirs.filter((advantage, index) => advantage !== 0 && peers[index]?.reward === 0);
  const ofSurvivors = theirs.filter((_, index) =>
    all.slice(index, index + 1).some((one) => !failed.has(one)),
  );
  const wrong = ofSurvivors.filter((advantage, index) => advantage !== ours[index]);
  const rows: [string, number, number][] = [
    ["trajectories that train", survivors.length, peers.length],
    ["mean reward", meanReward(survivors), meanReward(peers)],
    [`mean advantage of the ${survivors.length} episodes that ran`, mean(ours), mean(ofSurvivors)],
  ];
  const table = rows.map(([name, ...numbers]) => `| ${[name, ...numbers.map(shown)].join(" | ")} |`);
  expect(table).toEqual([
    "| trajectories that train | 108 | 1,280 |",
    "| mean reward | 0.593 | 0.050 |",
    "| mean advantage of the 108 episodes that ran | 0 | 0.492 |",
  ]);
  const page = readFileSync(join(import.meta.dirname, "../../../../docs/environments.md"), "utf8");
  for (const row of table) expect(page).toContain(row);
  expect(blamed.length - survivors.filter(({ reward }) => reward === 0).length).toBeGreaterThan(0);
  expect(wrong.length).toBeGreaterThan(survivors.length / 2);
});
