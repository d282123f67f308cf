import { defined } from "../../../base/records/defined.ts";
import type { Plan, ResolvedLoop } from "../../../contracts/plan.ts";
import type { RunSettings } from "../../../contracts/run-settings.ts";
import type {
  LoopBinding,
  RetrySettings,
  RewardBinding,
  RewardBindings,
  ToolBinding,
} from "../../../contracts/trajectory.ts";
import { isOfGroups } from "../../../plugin/registry/task-rewards.ts";
import { toolFunctions, toolName } from "../../../plugin/registry/tool-functions.ts";
import { trajectoryLimits } from "../read/trajectory-limits.ts";
import { toolDefinition } from "./tool-definitions.ts";

/** The part of a plan that the workflows use. */
export function runSettings(plan: Plan): RunSettings {
  const { rollout, evaluation, loop, loops } = plan;
  return defined({
    seed: plan.seed,
    steps: plan.steps,
    warmStartSteps: plan.warmStart?.steps ?? 0,
    trainsOnExamples: (plan.sft ?? plan.dpo) === undefined ? undefined : true,
    portions: plan.trainer.portions,
    batchSize: rollout.batchSize,
    groupSize: rollout.groupSize,
    concurrency: rollout.concurrency,
    dynamicSampling: rollout.dynamicSampling,
    staleness: rollout.staleness,
    minGroup: rollout.minGroup ?? Math.min(2, rollout.groupSize),
    maxInfrastructureFailures: rollout.maxInfrastructureFailures,
    sampling: { temperature: rollout.temperature, maxTokens: rollout.maxActionTokens },
    limits: trajectoryLimits(rollout.limits),
    evaluationEvery: evaluation.every,
    evaluationTasks: evaluation.tasks,
    loop: loopBinding(loop),
    loops:
      loops === undefined
        ? undefined
        : Object.fromEntries(Object.entries(loops).map(([name, one]) => [name, loopBinding(one)])),
    format: rollout.format,
    tools: plan.tools.flatMap((tool) => toolBinding(tool, rollout.toolRecordings)),
    planChanges: plan.changes?.length,
    reward: rewardBindings(plan.rewards),
  });
}

function loopBinding({ name, config, tools }: ResolvedLoop): LoopBinding {
  return defined({ plugin: name, config, tools });
}

function rewardBindings(rewards: Plan["rewards"]): RewardBindings {
  const group = rewards.filter(isOfGroups);
  const own = rewardBinding(rewards.filter((reward) => !isOfGroups(reward)));
  return group.length === 0 ? own : { ...own, group: rewardBinding(group) };
}

/**
 * One activity calls all rewards, each within its own attempts. Its number of attempts therefore covers the
 * failures of all of them.
 */
function rewardBinding(rewards: Plan["rewards"]): RewardBinding {
  const retries = rewards.map(({ calls }) => calls.retry);
  const most = (of: (retry: RetrySettings) => number) => Math.max(...retries.map(of));
  return {
    retry: {
      maximumAttempts: retries.reduce((total, { maximumAttempts }) => total + maximumAttempts, 0),
      initialInterval: most(({ initialInterval }) => initialInterval),
      backoffCoefficient: most(({ backoffCoefficient }) => backoffCoefficient),
      maximumInterval: most(({ maximumInterval }) => maximumInterval),
    },
    pure: rewards.every(({ manifest }) => manifest.reward?.pure === true),
  };
}

function toolBinding(tool: Plan["tools"][number], recordings: string | undefined): ToolBinding[] {
  const { manifest, retry, timeout, approval } = tool;
  if (manifest.tool === undefined) return [];
  const { stateful = false, recovery = "fail" } = manifest.tool;
  const computes = !stateful && !Object.values(manifest.capabilities).includes(true);
  const name = toolName(tool);
  return toolFunctions(tool).map((one) =>
    defined({
      definition: toolDefinition(one),
      tool: one.name === name ? undefined : name,
      retry,
      timeout,
      stateful,
      pure: computes || recordings !== undefined,
      recovery: stateful ? recovery : undefined,
      recordings,
      approval,
      person: manifest.tool?.person === true ? true : undefined,
      forLoops: one.forLoops ?? manifest.tool?.forLoops,
    }),
  );
}
