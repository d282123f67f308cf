import type { Plan } from "../contracts/plan.ts";
import type { SamplingForecast } from "../contracts/policy.ts";
import { loadPolicy } from "../plugins/registry.ts";

/** What sampling from one version of a run's policy would hold; undefined where the policy can't say. Throws what the model's formats throw. */
export async function forecastSampling({ policy }: Plan): Promise<SamplingForecast | undefined> {
  return (await loadPolicy(policy)).forecast?.(structuredClone(policy.config));
}
