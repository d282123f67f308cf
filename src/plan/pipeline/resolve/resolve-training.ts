import { defined } from "../../../base/records/defined.ts";
import type { Pipeline } from "../../../contracts/generated/pipeline.ts";
import type { Plan, ResolvedTrainer } from "../../../contracts/plan.ts";
import type { PolicyPlugin } from "../../../contracts/policy.ts";
import type { ResolvedTraining, TrainerPlugin, TrainerSurroundings } from "../../../contracts/trainer.ts";
import { loadPolicy, loadTrainer } from "../../../plugin/registry/registry.ts";

/** Of trainers that don't say. */
const usualWarmStartRate = 1e-3;
const usualPreferenceRate = 1e-6;

/** A plan whose trainer has not yet said what it makes of what the pipeline leaves open. */
export interface UnresolvedPlan extends Omit<Plan, "warmStart" | "sft" | "dpo"> {
  warmStart?: NonNullable<Pipeline["warmStart"]>;
  sft?: NonNullable<Pipeline["sft"]>;
  dpo?: NonNullable<Pipeline["dpo"]>;
}

/** A plan with what its trainer makes of what the pipeline leaves open. Its plugins can be loaded. */
export async function resolveTraining({ warmStart, sft, dpo, ...plan }: UnresolvedPlan): Promise<Plan> {
  const plugin = await loadTrainer(plan.trainer);
  const resolved = resolvedTraining(
    plugin,
    plan.trainer,
    surroundingsOf(plan, await loadPolicy(plan.policy)),
  );
  const { config, warmStartLearningRate: supervised, comparesTurns = false } = resolved;
  const { preferenceLearningRate: preferred = usualPreferenceRate } = resolved;
  return defined({
    ...plan,
    trainer: { ...plan.trainer, config, ...(comparesTurns && { comparesTurns }) },
    warmStart: warmStart && withRate(warmStart, supervised),
    sft: sft && withRate(withoutEpochs(sft), supervised),
    dpo: dpo && withRate(withoutEpochs(dpo), preferred),
  });
}

function withRate<Settings extends { learningRate?: number }>(settings: Settings, usual: number) {
  return { ...settings, learningRate: settings.learningRate ?? usual };
}

/** They have become steps. */
function withoutEpochs<Settings extends { epochs?: number }>({ epochs: _, ...settings }: Settings) {
  return settings;
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
