import { defined } from "../../../base/records/defined.ts";
import type { Pipeline } from "../../../contracts/generated/pipeline.ts";
import type { Plan, ResolvedTrainer } from "../../../contracts/plan.ts";
import type { PolicyPlugin } from "../../../contracts/policy.ts";
import type { ResolvedTraining, TrainerPlugin, TrainerSurroundings } from "../../../contracts/trainer.ts";
import { loadPolicy, loadTrainer } from "../../../plugin/registry/registry.ts";

/** For trainers that return no learning rate. */
const usualWarmStartRate = 1e-3;
const usualPreferenceRate = 1e-6;

/** A plan before its trainer has filled in the settings that the pipeline leaves open. */
export interface UnresolvedPlan extends Omit<Plan, "warmStart" | "sft" | "dpo"> {
  warmStart?: NonNullable<Pipeline["warmStart"]>;
  sft?: NonNullable<Pipeline["sft"]>;
  dpo?: NonNullable<Pipeline["dpo"]>;
}

/** Lets a plan's trainer fill in the settings that the pipeline leaves open. Its plugins must be loadable. */
export async function resolveTraining({ warmStart, sft, dpo, ...plan }: UnresolvedPlan): Promise<Plan> {
  const plugin = await loadTrainer(plan.trainer);
  const resolved = resolvedTraining(
    plugin,
    plan.trainer,
    surroundingsOf(plan, await loadPolicy(plan.policy)),
  );
  const { config, warmStartLearningRate: supervised, comparesTurns = false, portions } = resolved;
  const { preferenceLearningRate: preferred = usualPreferenceRate } = resolved;
  return defined({
    ...plan,
    trainer: defined({ ...plan.trainer, config, comparesTurns: comparesTurns || undefined, portions }),
    warmStart: warmStart && withRate(warmStart, supervised),
    sft: sft && withRate(withoutEpochs(sft), supervised),
    dpo: dpo && withRate(withoutEpochs(dpo), preferred),
  });
}

function withRate<Settings extends { learningRate?: number }>(settings: Settings, usual: number) {
  return { ...settings, learningRate: settings.learningRate ?? usual };
}

/** Drops `epochs`, which have become steps. */
function withoutEpochs<Settings extends { epochs?: number }>({ epochs: _, ...settings }: Settings) {
  return settings;
}

/** The other settings of a plan that its trainer receives. */
export function surroundingsOf(
  { policy, rollout }: UnresolvedPlan,
  plugin: PolicyPlugin,
): TrainerSurroundings {
  return {
    groupSize: rollout.groupSize,
    batchSize: rollout.batchSize,
    staleness: rollout.staleness,
    policy: plugin.traits?.(structuredClone(policy.config)) ?? { pretrained: true, restrictions: [] },
    temperature: rollout.temperature || 1, // a greedy policy is trained at 1
  };
}

/** A trainer's effective settings. */
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
