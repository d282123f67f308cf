// npm run math: asks the reward `math` about all pairs of its fixture, with math-verify in the sandbox, and ends with 1 if it says
// otherwise than native math-verify of a pair that is none of the known ones, or what a pair was not made to be.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import math from "../../plugins/reward-math/index.ts";
import { denoHere } from "../support/deno.ts";

interface Pair {
  kind: string;
  gold: string;
  answer: string;
  equal: boolean;
  native: boolean;
}

/** What math-verify doesn't know, native or not: recurring decimals, another sign of the empty set, a ∩ of intervals. */
const unknown = [/overline/, /emptyset/, /cap/];

const file = join(import.meta.dirname, "..", "unit", "plugins", "fixtures", "math-pairs.json");
const pairs: Pair[] = JSON.parse(readFileSync(file, "utf8"));
if (!(await denoHere())) process.exit(1);
const times: number[] = [];
const problems: string[] = [];
const counts = { pairs: pairs.length, quick: 0, asNative: 0, mended: 0, undecided: 0 };
for (const { kind, gold, answer, equal, native } of pairs) {
  const began = performance.now();
  const score = await math.score({
    task: { data_source: "fixture", prompt: [], reward_model: { style: "rule", ground_truth: gold } },
    answer,
    turns: [],
    outcome: "answered",
    config: { timeLimit: 20 },
    signal: new AbortController().signal,
  });
  if ("missing" in score) {
    problems.push(`${gold}: ${score.missing}`);
    continue;
  }
  if (score.metrics?.quick === 1) counts.quick++;
  else times.push(performance.now() - began);
  counts.undecided += score.metrics?.undecided ?? 0;
  if (score.success === native) counts.asNative++;
  else if (score.success === equal) counts.mended++;
  const isKnown = score.success === native && unknown.some((one) => one.test(gold));
  if (score.success !== equal && !isKnown)
    problems.push(`${kind}: ${gold} | ${answer}: made ${equal}, native ${native}, here ${score.success}`);
}
times.sort((a, b) => a - b);
console.log(
  counts,
  `p50 ${times[times.length >> 1]?.toFixed(0)} ms, p90 ${times[Math.floor(times.length * 0.9)]?.toFixed(0)} ms`,
);
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);
