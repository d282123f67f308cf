import { join } from "node:path";
import type { Pipeline, RewardUse, ToolUse } from "../contracts/generated/pipeline.ts";
import type { ResolvedLoop, ResolvedPlugin, ResolvedReward, ResolvedTool } from "../contracts/plan.ts";
import { child, type Pointer } from "../validation/pointer.ts";
import { callSettings, plainReward } from "./call-settings.ts";
import { parseDuration } from "./duration.ts";
import { hostSettings } from "./host-settings.ts";
import type { UnresolvedPlan } from "./resolve-training.ts";

/** The plan of a valid pipeline whose plugins are all resolved. */
export function assemblePlan(
  pipelineFile: string,
  pipeline: Pipeline,
  plugins: ReadonlyMap<Pointer, ResolvedPlugin>,
): UnresolvedPlan {
  const at = (pointer: Pointer): ResolvedPlugin => {
    const plugin = plugins.get(pointer);
    if (plugin === undefined) throw new Error(`No plugin was resolved for ${pointer}.`);
    return plugin;
  };
  const { name, seed, steps, hosts, warmStart, rollout, evaluation, checkpoints, retention } = pipeline;
  return structuredClone({
    pipelineFile,
    name,
    seed,
    steps,
    policy: at("/policy"),
    dataset: { train: at("/dataset/train"), validation: at("/dataset/validation") },
    tools: pipeline.tools.map((use, index) => resolvedTool(at(child("/tools", index)), use)),
    hosts: Object.fromEntries(Object.entries(hosts).map(([host, limits]) => [host, hostSettings(limits)])),
    loop: resolvedLoop(at("/loop")),
    reward: resolvedReward(at("/reward"), pipeline.reward),
    trainer: {
      ...at("/trainer"),
      ...(pipeline.trainer.loss === undefined ? {} : { loss: at("/trainer/loss") }),
    },
    ...(warmStart === undefined ? {} : { warmStart }),
    rollout,
    evaluation,
    checkpoints,
    retention,
  });
}

function resolvedLoop(plugin: ResolvedPlugin): ResolvedLoop {
  return { ...plugin, workflow: join(plugin.folder, plugin.manifest.workflow ?? "") };
}

function resolvedReward(plugin: ResolvedPlugin, use: RewardUse): ResolvedReward {
  return { ...plugin, calls: callSettings(plugin.name, plugin.manifest.reward ?? plainReward, use) };
}

function resolvedTool(plugin: ResolvedPlugin, use: ToolUse): ResolvedTool {
  const { tool } = plugin.manifest;
  if (tool === undefined) throw new Error(`The tool plugin ${plugin.name} has no tool block.`);
  return { ...plugin, ...callSettings(tool.name, tool, use), ...approvalOf(use) };
}

function approvalOf({ approval, approvalTimeout }: ToolUse): Pick<ResolvedTool, "approval"> {
  if (approval === undefined) return {};
  return { approval: approvalTimeout === undefined ? {} : { timeout: parseDuration(approvalTimeout) } };
}
