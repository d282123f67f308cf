import { defined } from "../../../base/records/defined.ts";
import type { SourceDocument } from "../../../base/validation/source-document.ts";
import type {
  ExecutionSettings,
  HostSettings,
  Plan,
  ResolvedLoop,
  ResolvedPlugin,
  ResolvedReward,
  ResolvedTool,
} from "../../../contracts/plan.ts";

/** Writes a plan as a pipeline with all effective settings. Times are in milliseconds. */
export function planDocument(plan: Plan): SourceDocument {
  const { name, seed, steps, warmStart, sft, dpo, rollout, evaluation, checkpoints, retention } = plan;
  const { trackers, stopIf } = plan;
  const { loss } = plan.trainer;
  const { leftOut: _, ...dataset } = plan.dataset;
  const value = structuredClone(
    defined<object>({
      name,
      seed,
      steps,
      policy: pluginUse(plan.policy),
      dataset: defined<object>({
        ...dataset,
        train: plan.dataset.train && pluginUse(plan.dataset.train),
        validation: pluginUse(plan.dataset.validation),
      }),
      tools: plan.tools.map(toolUse),
      hosts: Object.fromEntries(Object.entries(plan.hosts).map(([host, limits]) => [host, hostUse(limits)])),
      loop: loopUse(plan.loop),
      loops:
        plan.loops === undefined
          ? undefined
          : Object.fromEntries(Object.entries(plan.loops).map(([key, loop]) => [key, loopUse(loop)])),
      reward: rewardUses(plan.rewards),
      trainer: defined<object>({ ...pluginUse(plan.trainer), loss: loss && pluginUse(loss) }),
      warmStart,
      sft,
      dpo,
      rollout,
      evaluation,
      checkpoints,
      retention,
      trackers: trackers?.map(pluginUse),
      stopIf,
    }),
  );
  return { file: "plan", source: "", value, offsets: new Map() };
}

function pluginUse({ name, config }: ResolvedPlugin) {
  return { plugin: name, config };
}

function loopUse({ tools, ...plugin }: ResolvedLoop) {
  return defined<object>({ ...pluginUse(plugin), tools });
}

/** One reward, or a list. Rewards in a list have names. */
function rewardUses(rewards: ResolvedReward[]) {
  const uses = rewards.map(({ calls, weight, part, dataSources, ...plugin }) =>
    defined<object>({
      ...pluginUse(plugin),
      ...callsUse(calls),
      weight,
      name: part,
      dataSources,
    }),
  );
  return rewards.length === 1 && rewards[0]?.part === undefined ? uses[0] : uses;
}

function toolUse(tool: ResolvedTool) {
  const { approval, observations } = tool;
  return defined<object>({
    ...pluginUse(tool),
    ...callsUse(tool),
    observations,
    approval: approval === undefined ? undefined : "required",
    whom: approval?.whom,
    approvalTimeout: approval?.timeout === undefined ? undefined : `${approval.timeout}ms`,
  });
}

function callsUse({ retry, timeout, concurrency, rate, host }: ExecutionSettings) {
  return defined<object>({
    retry: {
      ...retry,
      initialInterval: `${retry.initialInterval}ms`,
      maximumInterval: `${retry.maximumInterval}ms`,
    },
    timeout: `${timeout}ms`,
    concurrency,
    rate,
    host,
  });
}

function hostUse({ pause, longestPause, patience, ...counts }: HostSettings) {
  return {
    ...counts,
    pause: `${pause}ms`,
    longestPause: `${longestPause}ms`,
    patience: `${patience}ms`,
  };
}
