import { readFileSync } from "node:fs";
import { join } from "node:path";
import codeTests from "@everturn/reward-code-tests";
import type { JsonValue } from "everturn/plugin";

/** A task of HumanEval, with a solution that has a mistake (scripts/make-humaneval-mutants.py). */
export interface HumanEvalTask {
  task_id: string;
  prompt: string;
  entry_point: string;
  test: string;
  canonical_solution: string;
  mutated_solution: string;
}

/** HumanEval's 164 tasks. */
export function humanEval(): HumanEvalTask[] {
  const file = join(import.meta.dirname, "..", "fixtures", "humaneval.jsonl");
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Which of a task's two solutions the reward says to pass, in a kind of sandbox; what it says of a score that is missing. */
export async function judged(task: HumanEvalTask, sandbox: JsonValue) {
  const { prompt, entry_point, test, canonical_solution, mutated_solution } = task;
  const passes = async (answer: string) => {
    const score = await codeTests.score({
      answer,
      task: {
        data_source: "humaneval",
        prompt: [{ role: "user", content: prompt }],
        reward_model: { ground_truth: JSON.stringify({ prompt, entry_point, test }) },
      },
      turns: [],
      outcome: "answered",
      config: { sandbox, extract: "last-block", credit: "partial", time: 30, total: 90, memory: 512 },
      signal: new AbortController().signal,
    });
    return "missing" in score ? score.missing : score.success;
  };
  const [canonical, mutated] = await Promise.all([canonical_solution, mutated_solution].map(passes));
  return { canonical, mutated };
}
