import type { CallSettings, HostSettings, Plan, ResolvedPlugin, ResolvedTool } from "../contracts/plan.ts";
import type { SourceDocument } from "../validation/source-document.ts";

/** A plan in the words of a pipeline again, with all that was in force written out; times in milliseconds. */
export function planDocument(plan: Plan): SourceDocument {
  const { name, seed, steps, warmStart, rollout, evaluation, checkpoints, retention } = plan;
  const { loss } = plan.trainer;
  const value = structuredClone({
    ...{ name, seed, steps },
    policy: pluginUse(plan.policy),
    dataset: { train: pluginUse(plan.dataset.train), validation: pluginUse(plan.dataset.validation) },
    tools: plan.tools.map(toolUse),
    hosts: Object.fromEntries(Object.entries(plan.hosts).map(([host, limits]) => [host, hostUse(limits)])),
    loop: pluginUse(plan.loop),
    reward: { ...pluginUse(plan.reward), ...callsUse(plan.reward.calls) },
    trainer: { ...pluginUse(plan.trainer), ...(loss === undefined ? {} : { loss: pluginUse(loss) }) },
    ...(warmStart === undefined ? {} : { warmStart }),
    ...{ rollout, evaluation, checkpoints, retention },
  });
  return { file: "plan", source: "", value, offsets: new Map() };
}

function pluginUse({ name, config }: ResolvedPlugin) {
  return { plugin: name, config };
}

function toolUse(tool: ResolvedTool) {
  const { approval } = tool;
  return {
    ...pluginUse(tool),
    ...callsUse(tool),
    ...(approval === undefined ? {} : { approval: "required" }),
    ...(approval?.timeout === undefined ? {} : { approvalTimeout: `${approval.timeout}ms` }),
  };
}

function callsUse({ retry, timeout, concurrency, host }: CallSettings) {
  return {
    retry: {
      ...retry,
      initialInterval: `${retry.initialInterval}ms`,
      maximumInterval: `${retry.maximumInterval}ms`,
    },
    timeout: `${timeout}ms`,
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(host === undefined ? {} : { host }),
  };
}

function hostUse({ pause, longestPause, patience, ...counts }: HostSettings) {
  return {
    ...counts,
    ...{ pause: `${pause}ms`, longestPause: `${longestPause}ms`, patience: `${patience}ms` },
  };
}
