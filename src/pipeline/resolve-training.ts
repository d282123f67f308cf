import type { Pipeline } from "../contracts/generated/pipeline.ts";
import type { Plan, ResolvedTrainer } from "../contracts/plan.ts";
import type { PolicyPlugin } from "../contracts/policy.ts";
import type { ResolvedTraining, TrainerPlugin, TrainerSurroundings } from "../contracts/trainer.ts";
import { loadPolicy, loadTrainer } from "../plugins/registry.ts";

/** Of trainers that don't say. */
const usualWarmStartRate = 1e-3;

/** A plan whose trainer has not yet said what it makes of what the pipeline leaves open. */
export interface UnresolvedPlan extends Omit<Plan, "warmStart"> {
  warmStart?: NonNullable<Pipeline["warmStart"]>;
}

/** A plan with what its trainer makes of what the pipeline leaves open. Its plugins can be loaded. */
export async function resolveTraining({ warmStart, ...plan }: UnresolvedPlan): Promise<Plan> {
  const plugin = await loadTrainer(plan.trainer);
  const resolved = resolvedTraining(
    plugin,
    plan.trainer,
    surroundingsOf(plan, await loadPolicy(plan.policy)),
  );
  const { config, warmStartLearningRate: learningRate, comparesTurns = false } = resolved;
  return {
    ...plan,
    trainer: { ...plan.trainer, config, ...(comparesTurns && { comparesTurns }) },
    ...(warmStart && { warmStart: { ...warmStart, learningRate: warmStart.learningRate ?? learningRate } }),
  };
}

/** What a plan's trainer is told of the rest of it. */
export function surroundingsOf(
  { policy, rollout }: UnresolvedPlan,
  plugin: PolicyPlugin,
): TrainerSurroundings {
  return {
    groupSize: rollout.groupSize,
    batchSize: rollout.batchSize,
    staleness: rollout.staleness,
    policy: plugin.traits?.(structuredClone(policy.config)) ?? { pretrained: true, restrictions: [] },
  };
}

/** A trainer's settings as they are in force. */
export function resolvedTraining(
  plugin: TrainerPlugin,
  { config }: ResolvedTrainer,
  surroundings: TrainerSurroundings,
): ResolvedTraining {
  const given = structuredClone(config);
  return (
    plugin.resolve?.(given, surroundings) ?? { config: given, warmStartLearningRate: usualWarmStartRate }
  );
}
