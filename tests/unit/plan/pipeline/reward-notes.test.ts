import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rewardNotes } from "../../../../src/plan/pipeline/check/reward-notes.ts";
import { checkPipeline } from "../../../../src/plan/pipeline/load-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const small = join(root, "tests", "pipelines", "small.yaml");
const folder = temporaryFolder();
symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));

async function notes(...overrides: string[]): Promise<string[]> {
  const { plan, data } = await checkPipeline(small, { overrides });
  return rewardNotes(plan, data);
}

/** A reward in one file, with this body of \`score\`. */
function reward(name: string, body: string, capabilities = ""): string {
  const file = join(folder, `${name}.ts`);
  const code = `import { defineReward } from "everturn/plugin";
export default defineReward({ name: "${name}", ${capabilities} score: ({ answer, task, turns }) => { ${body} } });
`;
  writeFileSync(file, code);
  return `reward=${file}`;
}

const same = "return { reward: 0.5, success: false };";

test("a reward that scores right and wrong answers alike is noted, with the score", async () => {
  expect(await notes(reward("constant", same))).toEqual([
    expect.stringMatching(
      /^reward: \d+ right answers, 8 empty answers, 40 answers of other tasks all earn 0\.5\./,
    ),
  ]);
});

test("ground truths that an exact match can never find are noted", async () => {
  const rows = [
    {
      data_source: "sums",
      prompt: [{ role: "user", content: "1 + 1" }],
      reward_model: { ground_truth: "two" },
    },
    {
      data_source: "sums",
      prompt: [{ role: "user", content: "1 + 2" }],
      reward_model: { ground_truth: "three" },
    },
  ];
  const path = join(folder, "words.jsonl");
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const numbers = "reward={ plugin: reward-exact-match, config: { extract: last-number } }";
  expect(await notes(`dataset.train.config.path=${path}`, numbers)).toEqual([
    expect.stringMatching(/all earn 0\. If the reward should tell them apart/),
  ]);
});

test("rewards that tell answers apart, look at calls, or may cost something are not noted", async () => {
  expect(await notes()).toEqual([]);
  expect(await notes(reward("length", "return { reward: answer.length / 100, success: true };"))).toEqual([]);
  const calls =
    "const called = turns.some(({ toolCalls }) => toolCalls.length > 0); return { reward: Number(called), success: called };";
  expect(await notes(reward("calls", calls))).toEqual([]); // the demonstrations call
  expect(await notes(reward("calls", calls), "warmStart=null")).toEqual([]); // no answer is known to be right
  const network = "capabilities: { network: true },";
  expect(await notes(reward("paid", "throw new Error('called');", network))).toEqual([]);
});

test("a reward that throws is reported with its reason", async () => {
  expect(await notes(reward("broken", "throw new Error('no table');"))).toEqual([
    expect.stringMatching(/^reward: it could not be tried on the first tasks: .*no table/),
  ]);
});
