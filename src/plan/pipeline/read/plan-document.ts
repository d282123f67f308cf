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

/** A plan in the words of a pipeline again, with all that was in force written out; times in milliseconds. */
export function planDocument(plan: Plan): SourceDocument {
  const { name, seed, steps, warmStart, sft, dpo, rollout, evaluation, checkpoints, retention, trackers } =
    plan;
  const { loss } = plan.trainer;
  const { leftOut: _, ...dataset } = plan.dataset;
  const value = structuredClone({
    name,
    seed,
    steps,
    policy: pluginUse(plan.policy),
    dataset: {
      ...dataset,
      ...(plan.dataset.train === undefined ? {} : { train: pluginUse(plan.dataset.train) }),
      validation: pluginUse(plan.dataset.validation),
    },
    tools: plan.tools.map(toolUse),
    hosts: Object.fromEntries(Object.entries(plan.hosts).map(([host, limits]) => [host, hostUse(limits)])),
    loop: loopUse(plan.loop),
    ...(plan.loops === undefined
      ? {}
      : {
          loops: Object.fromEntries(Object.entries(plan.loops).map(([name, loop]) => [name, loopUse(loop)])),
        }),
    reward: rewardUses(plan.rewards),
    trainer: { ...pluginUse(plan.trainer), ...(loss === undefined ? {} : { loss: pluginUse(loss) }) },
    ...(warmStart === undefined ? {} : { warmStart }),
    ...(sft === undefined ? {} : { sft }),
    ...(dpo === undefined ? {} : { dpo }),
    rollout,
    evaluation,
    checkpoints,
    retention,
    ...(trackers === undefined ? {} : { trackers: trackers.map(pluginUse) }),
  });
  return { file: "plan", source: "", value, offsets: new Map() };
}

function pluginUse({ name, config }: ResolvedPlugin) {
  return { plugin: name, config };
}

function loopUse({ tools, ...plugin }: ResolvedLoop) {
  return { ...pluginUse(plugin), ...(tools === undefined ? {} : { tools }) };
}

/** One alone, or a list: those of a list have names. */
function rewardUses(rewards: ResolvedReward[]) {
  const uses = rewards.map(({ calls, weight, part, dataSources, ...plugin }) => ({
    ...pluginUse(plugin),
    ...callsUse(calls),
    weight,
    ...(part === undefined ? {} : { name: part }),
    ...(dataSources === undefined ? {} : { dataSources }),
  }));
  return rewards.length === 1 && rewards[0]?.part === undefined ? uses[0] : uses;
}

function toolUse(tool: ResolvedTool) {
  const { approval, observations } = tool;
  return {
    ...pluginUse(tool),
    ...callsUse(tool),
    ...(observations === undefined ? {} : { observations }),
    ...(approval === undefined ? {} : { approval: "required" }),
    ...(approval?.whom === undefined ? {} : { whom: approval.whom }),
    ...(approval?.timeout === undefined ? {} : { approvalTimeout: `${approval.timeout}ms` }),
  };
}

function callsUse({ retry, timeout, concurrency, rate, host }: ExecutionSettings) {
  return {
    retry: {
      ...retry,
      initialInterval: `${retry.initialInterval}ms`,
      maximumInterval: `${retry.maximumInterval}ms`,
    },
    timeout: `${timeout}ms`,
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(rate === undefined ? {} : { rate }),
    ...(host === undefined ? {} : { host }),
  };
}

function hostUse({ pause, longestPause, patience, ...counts }: HostSettings) {
  return {
    ...counts,
    pause: `${pause}ms`,
    longestPause: `${longestPause}ms`,
    patience: `${patience}ms`,
  };
}
