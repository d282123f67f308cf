import { join } from "node:path";
import { defined } from "../../../base/records/defined.ts";
import { child, type Pointer } from "../../../base/validation/pointer.ts";
import type {
  LoopUse,
  Pipeline,
  Rewards,
  RewardUse,
  ToolUse,
} from "../../../contracts/generated/pipeline.ts";
import type { ResolvedLoop, ResolvedPlugin, ResolvedReward, ResolvedTool } from "../../../contracts/plan.ts";
import { toolName } from "../../../plugin/registry/tool-functions.ts";
import { parseDuration } from "../read/duration.ts";
import { partName } from "../read/part-name.ts";
import { callSettings, plainReward } from "./call-settings.ts";
import { hostSettings } from "./host-settings.ts";
import type { UnresolvedPlan } from "./resolve-training.ts";

/** Assembles the plan of a valid pipeline whose plugins are all resolved. */
export function assemblePlan(
  pipelineFile: string,
  pipeline: Pipeline,
  plugins: ReadonlyMap<Pointer, ResolvedPlugin>,
): UnresolvedPlan {
  const at = (pointer: Pointer) => pluginAt(plugins, pointer);
  const {
    name,
    seed,
    steps = 0,
    hosts,
    warmStart,
    sft,
    dpo,
    rollout,
    evaluation,
    checkpoints,
    retention,
  } = pipeline;
  return structuredClone(
    defined({
      pipelineFile,
      name,
      seed,
      steps,
      policy: at("/policy"),
      dataset: defined({
        train: pipeline.dataset.train && at("/dataset/train"),
        validation: at("/dataset/validation"),
        mix: pipeline.dataset.mix,
        images: pipeline.dataset.images,
      }),
      tools: pipeline.tools.map((use, index) => resolvedTool(at(child("/tools", index)), use)),
      hosts: Object.fromEntries(Object.entries(hosts).map(([host, limits]) => [host, hostSettings(limits)])),
      loop: resolvedLoop(at("/loop"), pipeline.loop),
      loops: pipeline.loops && resolvedLoops(plugins, pipeline.loops),
      rewards: resolvedRewards(plugins, pipeline.reward),
      trainer: defined({
        ...at("/trainer"),
        loss: pipeline.trainer.loss && at("/trainer/loss"),
      }),
      warmStart,
      sft,
      dpo,
      rollout,
      evaluation,
      checkpoints,
      retention,
      trackers:
        pipeline.trackers.length === 0
          ? undefined
          : pipeline.trackers.map((_, index) => at(child("/trackers", index))),
      stopIf: pipeline.stopIf.length === 0 ? undefined : pipeline.stopIf,
    }),
  );
}

function pluginAt(plugins: ReadonlyMap<Pointer, ResolvedPlugin>, pointer: Pointer): ResolvedPlugin {
  const plugin = plugins.get(pointer);
  if (plugin === undefined) throw new Error(`No plugin was resolved for ${pointer}.`);
  return plugin;
}

function resolvedLoops(
  plugins: ReadonlyMap<Pointer, ResolvedPlugin>,
  loops: Record<string, LoopUse>,
): Record<string, ResolvedLoop> {
  return Object.fromEntries(
    Object.entries(loops).map(([name, use]) => [
      name,
      resolvedLoop(pluginAt(plugins, child("/loops", name)), use),
    ]),
  );
}

function resolvedLoop(plugin: ResolvedPlugin, { tools }: LoopUse): ResolvedLoop {
  const workflow = join(plugin.folder, plugin.manifest.workflow ?? "");
  return defined({ ...plugin, workflow, tools });
}

/** Resolves the rewards of a valid pipeline. */
export function resolvedRewards(
  plugins: ReadonlyMap<Pointer, ResolvedPlugin>,
  reward: Rewards,
): ResolvedReward[] {
  if (!Array.isArray(reward)) return [resolvedReward(pluginAt(plugins, "/reward"), reward)];
  return reward.map((use, index) => {
    const plugin = pluginAt(plugins, child("/reward", index));
    return resolvedReward(plugin, { ...use, name: use.name ?? partName(plugin) });
  });
}

function resolvedReward(plugin: ResolvedPlugin, use: RewardUse): ResolvedReward {
  const { weight, name, dataSources } = use;
  return defined({
    ...plugin,
    calls: callSettings(plugin.name, plugin.manifest.reward ?? plainReward, use),
    weight,
    part: name,
    dataSources,
  });
}

function resolvedTool(plugin: ResolvedPlugin, use: ToolUse): ResolvedTool {
  const { tool } = plugin.manifest;
  if (tool === undefined) throw new Error(`The tool plugin ${plugin.name} has no tool block.`);
  const { observations } = use;
  return defined({
    ...plugin,
    ...callSettings(toolName(plugin), tool, use),
    observations,
    ...approvalOf(use, tool.person === true),
  });
}

function approvalOf(
  { approval, approvalTimeout, whom }: ToolUse,
  isAnswered: boolean,
): Pick<ResolvedTool, "approval"> {
  if (approval === undefined && !isAnswered) return {};
  const timeout = approvalTimeout === undefined ? {} : { timeout: parseDuration(approvalTimeout) };
  return { approval: defined({ ...timeout, whom }) };
}
