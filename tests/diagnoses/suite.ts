import { join } from "node:path";
import type { JsonValue } from "../../src/contracts/json.ts";
import type { Case, PreparedCase } from "./case.ts";
import { healthyCases } from "./healthy.ts";
import { preparedCases } from "./prepared.ts";
import { type Ended, exportPolicy, runCase } from "./run-case.ts";

/** A case, how its command ended, and what was not as it should be. */
export interface Outcome extends Ended {
  name: string;
  kind: "prepared" | "healthy";
  /** Empty if the cause was named, or if a healthy run had no diagnosis. */
  problems: string[];
}

/** Cases by name; all of them without names. */
interface Choice {
  folder: string;
  only?: readonly string[];
  /** The folder of a policy that knows its task, from an earlier suite. Default: the first healthy run makes one. */
  model?: string | undefined;
  tell(outcome: Outcome): void;
}

/** Runs the cases, one at a time: each has a server, workers and a trainer. */
export async function runSuite({ folder, only = [], model, tell }: Choice): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const add = (outcome: Outcome) => {
    outcomes.push(outcome);
    tell(outcome);
  };
  const isChosen = ({ name }: Case) => only.length === 0 || only.includes(name);
  const [first, ...others] = healthyCases;
  if (first === undefined) throw new Error("there are no healthy cases");
  let start = model;
  if (start === undefined) {
    const ended = await runCase(first, folder);
    add(judgeHealthy(first.name, ended));
    start = join(folder, "model");
    await exportPolicy(ended.run ?? "", folder, start);
  }
  const warmed = start;
  for (const one of preparedCases.filter(isChosen)) {
    add(judgePrepared(one, await runCase(one, folder, fromModel(one, warmed))));
  }
  for (const one of others.filter(isChosen)) add(judgeHealthy(one.name, await runCase(one, folder)));
  return outcomes;
}

/** Prepared runs are short, and begin with a policy that solves some of the tasks. */
function fromModel({ pipeline, untrained = false }: PreparedCase, model: string): Record<string, JsonValue> {
  const trainer = {
    algorithm: "grpo",
    learningRate: 1e-4,
    minibatchSize: 16,
    warmupSteps: 0,
    klCoefficient: 0.01,
  };
  const rollout = { batchSize: 32, groupSize: 4, maxActionTokens: 40, concurrency: 32 };
  return {
    evaluation: { every: 0, tasks: 8 },
    ...(untrained ? {} : { "policy.config": { model } }),
    ...(pipeline === undefined ? { steps: 3, warmStart: null, rollout, "trainer.config": trainer } : {}),
  };
}

function judgeHealthy(name: string, ended: Ended): Outcome {
  const { codes, conditions } = ended;
  const problems = [
    ...codes.map((code) => `it ended with ${code}`),
    ...conditions.map((condition) => `a false ${condition}`),
  ];
  return { name, kind: "healthy", problems, ...ended };
}

function judgePrepared({ name, expected }: PreparedCase, ended: Ended): Outcome {
  const { code, message = "", condition, companions = [] } = expected;
  const { codes, conditions } = ended;
  const allowed = [condition, ...companions];
  const problems = [
    ...(code === undefined ? codes.map((unexpected) => `it ended with ${unexpected}`) : []),
    ...(code === undefined || codes.includes(code) ? [] : [`it did not end with ${code}`]),
    ...((ended.message ?? "").includes(message) ? [] : [`its error does not contain “${message}”`]),
    ...(condition === undefined || conditions.includes(condition) ? [] : [`it was not named ${condition}`]),
    ...conditions.filter((found) => !allowed.includes(found)).map((found) => `a false ${found}`),
  ];
  return { name, kind: "prepared", problems, ...ended };
}
