import type { JsonObject, JsonValue } from "../../../contracts/json.ts";
import type { ResolvedPlugin } from "../../../contracts/plan.ts";
import { smallTrainer, trajectories, writeSmallPolicy } from "./small-policy.ts";

/** Takes a step with a loss on a small policy in the folder `initial`. Returns its metrics. */
export async function probe(plugin: ResolvedPlugin, { initial }: JsonObject): Promise<JsonValue> {
  await writeSmallPolicy(String(initial));
  const trainer = await smallTrainer(String(initial), plugin);
  const { policyLoss, gradientNorm } = await trainer.policyGradientStep(trajectories, { temperature: 1 });
  return { policyLoss: String(policyLoss), gradientNorm: String(gradientNorm) };
}
