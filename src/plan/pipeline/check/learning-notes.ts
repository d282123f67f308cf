import { counted, grouped, number } from "../../../base/text/format.ts";
import { valueAt } from "../../../base/validation/pointer.ts";
import type { Plan } from "../../../contracts/plan.ts";
import { loadPolicy, loadTrainer } from "../../../plugin/registry/registry.ts";
import { sharedTasks } from "../../tasks/describe-tasks.ts";
import { resolvedTraining, surroundingsOf } from "../resolve/resolve-training.ts";
import { comparesGroups, trainsOnRollouts } from "./compares-groups.ts";
import type { LoadedPlan } from "./loaded-plan.ts";

/** A learning rate this many times above or below the default is noted. */
const absurdFactor = 100;

/** A run that uses each training task more often than this is noted. */
const mostPasses = 50;

/** More updates than this on the trajectories of one step are noted. */
const mostUpdates = 32;

/** If fewer of the held-out tasks are also training tasks, accuracy hardly depends on them. */
const noticeableShare = 0.05;

/** Below this temperature, the trajectories of a group are often the same. */
const lowTemperature = 0.3;

/** Rewards that only look at the final answer. */
const answerRewards = new Set(["reward-exact-match", "reward-math", "reward-qa"]);

type Check = (loaded: LoadedPlan) => string[];

const checks: readonly Check[] = [
  untaughtNotes,
  temperatureNotes,
  warmupNotes,
  decayNotes,
  updateNotes,
  passNotes,
  overlapNotes,
  turnNotes,
];

/**
 * Notes settings with which a run would learn little or nothing, although it may make sense: learning rates far
 * from the default, warm-ups and decays that leave a rate near 0, few tasks, tasks that are not held out.
 */
export async function learningNotes(loaded: LoadedPlan): Promise<string[]> {
  const { plan } = loaded;
  const trained = trainsOnRollouts(plan) ? checks.flatMap((check) => check(loaded)) : [];
  return plan.steps === 0 ? [] : [...trained, ...(await rateNotes(plan))];
}

async function rateNotes(plan: Plan): Promise<string[]> {
  const [policy, trainer] = await Promise.all([loadPolicy(plan.policy), loadTrainer(plan.trainer)]);
  const { learningRate: _, ...config } = plan.trainer.config;
  const usual = resolvedTraining(trainer, { ...plan.trainer, config }, surroundingsOf(plan, policy));
  const own = trainsOnRollouts(plan) ? plan.trainer.config.learningRate : undefined;
  const rates: [key: string, rate: unknown, usual: unknown][] = [
    ["warmStart.learningRate", plan.warmStart?.learningRate, usual.warmStartLearningRate],
    ["sft.learningRate", plan.sft?.learningRate, usual.warmStartLearningRate],
    ["dpo.learningRate", plan.dpo?.learningRate, usual.preferenceLearningRate],
    ["trainer.config.learningRate", own, usual.config.learningRate],
  ];
  return rates.flatMap(([key, rate, typical]) => {
    if (typeof rate !== "number" || typeof typical !== "number") return [];
    const shown = `${key} is ${rate}; the default for these weights is ${typical}.`;
    if (rate >= absurdFactor * typical) return [`${shown} A rate this high usually ruins the policy`];
    if (rate * absurdFactor <= typical) return [`${shown} With a rate this low, the policy hardly changes`];
    return [];
  });
}

function untaughtNotes({ plan }: LoadedPlan): string[] {
  return hasRandomWeights(plan) && plan.warmStart === undefined
    ? [
        "policy: it has random weights and there is no warm start, so its actions are random tokens, which hardly ever earn a reward. Add warmStart, or name a pretrained model",
      ]
    : [];
}

/** Whether a policy of this configuration starts from random weights. */
function hasRandomWeights({ policy: { name, config } }: Plan): boolean {
  return name === "policy-onnx" && config.model === undefined && config.architecture !== undefined;
}

function temperatureNotes({ plan }: LoadedPlan): string[] {
  const { temperature } = plan.rollout;
  if (temperature >= lowTemperature) return [];
  const effect = comparesGroups(plan)
    ? "the trajectories of a group are often the same, which teaches the policy nothing"
    : "the policy tries little that is new";
  return [`rollout.temperature is ${temperature}: ${effect}. 0.7 to 1 is usual`];
}

function warmupNotes({ plan: { steps, trainer }, document }: LoadedPlan): string[] {
  const { warmupSteps } = trainer.config;
  const isWritten = valueAt(document.value, "/trainer/config/warmupSteps") !== undefined;
  if (!isWritten || typeof warmupSteps !== "number" || warmupSteps < 5 * steps) return [];
  const share = number((100 * steps) / warmupSteps);
  return [
    `trainer.config.warmupSteps is ${warmupSteps}, but the run has ${counted(steps, "step")}: the learning rate never exceeds ${share} % of its value`,
  ];
}

function decayNotes({ plan: { steps, trainer } }: LoadedPlan): string[] {
  const { decay = "none", decaySteps, finalFraction = 0 } = trainer.config;
  if (decay === "none" || typeof decaySteps !== "number" || finalFraction !== 0) return [];
  if (decaySteps > 0.75 * steps) return [];
  return [
    `trainer.config.decaySteps is ${decaySteps}, but the run has ${counted(steps, "step")}: the learning rate is 0 in the last ${steps - decaySteps}. Raise it, or set finalFraction`,
  ];
}

function updateNotes({ plan: { rollout, trainer } }: LoadedPlan): string[] {
  const { epochs = 1, minibatchSize = rollout.batchSize } = trainer.config;
  if (typeof epochs !== "number" || typeof minibatchSize !== "number") return [];
  const updates = (epochs * rollout.batchSize) / minibatchSize;
  if (updates <= mostUpdates) return [];
  return [
    `trainer.config: ${epochs} epochs over ${rollout.batchSize} trajectories in minibatches of ${minibatchSize} are ${grouped(updates)} updates per step. The last ones learn from trajectories of a much older policy`,
  ];
}

function passNotes({ plan: { steps, rollout }, data }: LoadedPlan): string[] {
  const rows = data.train?.length ?? 0;
  const passes = (steps * rollout.batchSize) / rollout.groupSize / Math.max(1, rows);
  if (rows === 0 || passes <= mostPasses) return [];
  const tasks = rows === 1 ? "The only training task" : `Each of the ${rows} training tasks`;
  return [
    `dataset.train: ${tasks} is used about ${grouped(Math.round(passes))} times, so the policy may learn their answers by heart. Add tasks, or lower steps`,
  ];
}

function overlapNotes({ data: { train = [], validation = [] } }: LoadedPlan): string[] {
  const shared = sharedTasks(train, validation).length;
  if (shared < noticeableShare * Math.max(1, validation.length)) return [];
  return [
    `dataset.validation: ${shared} of its ${validation.length} tasks are also training tasks, so accuracy on them does not show what the policy can do with new tasks`,
  ];
}

/** With a single turn, a tool's result reaches nobody. */
function turnNotes({ plan: { loop, tools, rewards } }: LoadedPlan): string[] {
  const isCut = loop.name === "loop-tool-agent" && loop.config.maxTurns === 1;
  const isOffered = tools.length > 0 && loop.tools?.length !== 0;
  if (!isCut || !isOffered || !rewards.every(({ name }) => answerRewards.has(name))) return [];
  return [
    "loop.config.maxTurns is 1: a trajectory ends with its first action, so a tool's result never reaches an answer. Set it to 2 or more",
  ];
}
