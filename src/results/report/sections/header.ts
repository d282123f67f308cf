import { basename } from "node:path";
import { counted, duration, number } from "../../../base/text/format.ts";
import type { JsonObject, JsonValue } from "../../../contracts/json.ts";
import type { Plan, ResolvedPlugin, ResolvedReward } from "../../../contracts/plan.ts";
import { type Html, html } from "../html.ts";
import type { RunData } from "../read-run.ts";

/** The pipeline's name, the run, and a summary of the plan. */
export function header(data: RunData): Html {
  return html`<header><p class="eyebrow">Everturn report</p><h1>${data.plan.name}</h1>
${planInShort(data)}</header>
`;
}

/** The run, and a summary of its plan. */
export function planInShort({ run, plan, createdAt, steps }: RunData): Html {
  const { rollout, evaluation, warmStart } = plan;
  const trainsOnExamples = (plan.sft ?? plan.dpo) !== undefined;
  const seconds = steps.reduce((total, record) => total + record.seconds.total, 0);
  const when = createdAt === undefined ? [] : [`started ${createdAt.slice(0, 16).replace("T", " ")} UTC`];
  const done = `${steps.length} of ${counted(plan.steps, "step")}`;
  const facts = [
    `run ${run}`,
    `seed ${plan.seed}`,
    ...when,
    done,
    ...(steps.length === 0 ? [] : [`the steps took ${duration(seconds)}`]),
  ];
  const rows: [string, string][] = [
    ["policy", pluginText(plan.policy)],
    ["tools", plan.tools.map(pluginText).join("; ") || "none"],
    ["agent loop", loopsText(plan)],
    ["reward", plan.rewards.map(rewardText).join("; ")],
    ["trainer", pluginText(plan.trainer)],
    ["tasks", tasksText(plan)],
    ...(plan.sft === undefined
      ? []
      : [["supervised fine-tuning", settingsText(plan.sft)] as [string, string]]),
    ...(plan.dpo === undefined
      ? []
      : [["preference optimization", settingsText(plan.dpo)] as [string, string]]),
    [
      "warm start",
      warmStart === undefined
        ? "none"
        : `${counted(warmStart.steps, "supervised step")} of ${warmStart.batchSize}, learning rate ${warmStart.learningRate}`,
    ],
    [
      "rollouts",
      [
        ...(trainsOnExamples
          ? []
          : [`${rollout.batchSize} trajectories a step in groups of ${rollout.groupSize}`]),
        `temperature ${rollout.temperature}`,
        `actions of at most ${counted(rollout.maxActionTokens, "token")}`,
      ].join(", "),
    ],
    [
      "evaluation",
      [
        "greedy",
        evaluation.every === 0 ? "before and after all steps" : `every ${counted(evaluation.every, "step")}`,
        `on ${counted(evaluation.tasks, "held-out task")}`,
      ].join(", "),
    ],
  ];
  const list = rows.map(([name, text]) => html`<dt>${name}</dt><dd>${text}</dd>`);
  return html`<p class="facts">${facts.join(" · ")}</p>
<details><summary>The plan in short</summary><dl>${list}</dl></details>`;
}

function tasksText({ dataset: { train, validation } }: RunData["plan"]): string {
  const trained = train === undefined ? [] : [`train: ${pluginText(train)}`];
  return [...trained, `held out: ${pluginText(validation)}`].join("; ");
}

/** Settings of a plan, in the same form as those of plugins. */
function settingsText(settings: object): string {
  return configText({ ...settings });
}

function loopsText({ loop, loops = {} }: Plan): string {
  const others = Object.entries(loops).map(([name, one]) => `${name}: ${pluginText(one)}`);
  return [pluginText(loop), ...others].join("; ");
}

function rewardText(reward: ResolvedReward): string {
  const { weight, part, dataSources } = reward;
  if (part === undefined) return pluginText(reward);
  const tasks = dataSources === undefined ? "" : `, of ${dataSources.join(", ")}`;
  return `${pluginText(reward)} × ${number(weight)}${tasks}`;
}

function pluginText({ name, config }: ResolvedPlugin): string {
  const settings = configText(config);
  return settings === "" ? name : `${name} (${settings})`;
}

function configText(config: JsonObject): string {
  return Object.entries(config)
    .map(([key, value]) => `${key} ${valueText(value)}`)
    .join(", ");
}

/**
 * A value in short form. Only the last part of a path is shown, because a report may leave the machine it was made
 * on.
 */
function valueText(value: JsonValue): string {
  if (typeof value === "string") return value.includes("/") ? basename(value) : value;
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : number(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(", ")}]`;
  return typeof value === "object" && value !== null ? `(${configText(value)})` : String(value);
}
