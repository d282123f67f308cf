import { batchText } from "../../../base/text/batch-text.ts";
import { counted, grouped, number } from "../../../base/text/format.ts";
import { displayPath } from "../../../base/validation/place.ts";
import type { Plan, ResolvedPlugin } from "../../../contracts/plan.ts";
import type { DerivedNumbers } from "../../../plan/pipeline/explain/derived-numbers.ts";
import { tableLines } from "./table.ts";

/** The phases of a run in order, its numbers, and its plugins. */
export function explanation(plan: Plan, numbers: DerivedNumbers): string {
  const parts = suppliedParts(plan).map(({ part, plugin, version, from, config }) => [
    part,
    plugin,
    version,
    from,
    shortened(config),
  ]);
  const columns = ["part", "plugin", "version", "from", "configuration"].map((title) => ({ title }));
  return [
    `${plan.name}, seed ${plan.seed}`,
    "",
    "What happens",
    ...phases(plan, numbers).map((phase, index) => `  ${index + 1}. ${phase}`),
    "",
    "Numbers",
    ...tableLines([{ title: "" }, { title: "" }], numberRows(numbers)).slice(1),
    "",
    "Parts",
    ...tableLines(columns, parts),
  ].join("\n");
}

/** The most characters of a configuration to show; `--json` has all of it. */
const mostCharacters = 90;

function shortened(config: string): string {
  if (config === "{}") return "";
  return config.length <= mostCharacters ? config : `${config.slice(0, mostCharacters)} …`;
}

/** The phases of a run in order. */
function phases(plan: Plan, numbers: DerivedNumbers): string[] {
  const { evaluation, rollout, warmStart, policy, trainer } = plan;
  const examples = plan.dpo ?? plan.sft;
  const { steps, tasksOfStep, groupSize, trajectoriesOfStep, evaluationTasks, actionTokens } = numbers;
  const evaluated = `held-out accuracy on ${counted(evaluationTasks, "task")}, greedily`;
  const group =
    groupSize === 1 ? counted(tasksOfStep, "task") : `${counted(tasksOfStep, "task")} × ${groupSize} samples`;
  const when =
    evaluation.every === 0
      ? "after the last step"
      : `every ${counted(evaluation.every, "step")}, and after the last`;
  return [
    `${policy.name} makes version 0 of the policy`,
    evaluated,
    ...(warmStart === undefined
      ? []
      : [
          `warm start: ${counted(warmStart.steps, "supervised step")} of ${counted(warmStart.batchSize, "demonstration")}`,
          evaluated,
        ]),
    examples !== undefined
      ? `${counted(steps, "step")}, each: ${batchText(plan)} by ${trainer.name}`
      : [
          `${counted(steps, "step")}, each: ${group} = ${counted(trajectoriesOfStep, "trajectory", "trajectories")}`,
          `actions of at most ${counted(actionTokens, "token")} at temperature ${rollout.temperature}`,
          `then one update by ${trainer.name}`,
        ].join("; "),
    `held-out accuracy again ${when}: ${counted(numbers.evaluations, "evaluation")} in all`,
  ];
}

function numberRows(numbers: DerivedNumbers): string[][] {
  const { trainingTasks, passes = 0, longestPrompt, tokensOfTrajectory, tokensOfStep } = numbers;
  const evaluated = numbers.evaluations * numbers.evaluationTasks;
  const row = (title: string, value: number | undefined, more = "") =>
    value === undefined ? [] : [[`  ${title}`, `${grouped(value)}${more}`]];
  return [
    ...row("trajectories that are trained on", numbers.trajectories),
    ...row("trajectories of evaluations", evaluated),
    ...row("examples that are trained on", numbers.examples),
    ...row("training tasks", trainingTasks, `, gone through ${number(passes)} times`),
    ...row("tokens of the longest prompt", longestPrompt),
    ...row("tokens of a trajectory, at most", tokensOfTrajectory),
    ...row("tokens of a step, at most", tokensOfStep),
  ];
}

/** A part of a run, and the plugin that supplies it. */
export interface SuppliedPart {
  part: string;
  plugin: string;
  version: string;
  /** A package, or the plugin's path. */
  from: string;
  /** JSON, with defaults filled in. */
  config: string;
}

/** Lists which plugin supplies which part. */
export function suppliedParts(plan: Plan): SuppliedPart[] {
  const { policy, dataset, tools, loop, loops = {}, rewards, trainer } = plan;
  const parts: [part: string, plugin: ResolvedPlugin][] = [
    ["policy", policy],
    ...(dataset.train === undefined ? [] : [["training tasks", dataset.train] as [string, ResolvedPlugin]]),
    ["held-out tasks", dataset.validation],
    ...tools.map((tool): [string, ResolvedPlugin] => ["tool", tool]),
    ["agent loop", loop],
    ...Object.entries(loops).map(([name, one]): [string, ResolvedPlugin] => [`agent loop ${name}`, one]),
    ...rewards.map((reward): [string, ResolvedPlugin] => ["reward", reward]),
    ["trainer", trainer],
    ...(trainer.loss === undefined ? [] : [["loss", trainer.loss] as [string, ResolvedPlugin]]),
  ];
  return parts.map(([part, { name, version, package: named, folder, entry, source, config }]) => ({
    part,
    plugin: name,
    version: source === undefined ? version : "–",
    from: source !== undefined ? displayPath(entry) : (named ?? displayPath(folder)),
    config: JSON.stringify(config),
  }));
}
