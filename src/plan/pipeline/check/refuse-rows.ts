import { displayPath } from "../../../base/validation/place.ts";
import { refusal } from "../../../base/validation/problem.ts";
import type { Plan, ResolvedPlugin } from "../../../contracts/plan.ts";
import { loadDataset } from "../../../plugin/registry/registry.ts";
import { readDemonstrations } from "../read/demonstrations.ts";
import { readExamples } from "../read/examples.ts";
import { keptRows } from "./overlong-prompts.ts";
import { policyFraming, preflight } from "./preflight.ts";

/**
 * Checks a plan's rows with the framing of the policy in `folder`, for a policy that could not frame text
 * before it was built. Throws WRONG_CONFIGURATION.
 */
export async function refuseRows(plan: Plan, folder: string): Promise<void> {
  const framing = await policyFraming(plan.policy, folder);
  if (framing === undefined) return;
  const load = async (use: ResolvedPlugin) => (await loadDataset(use)).load(structuredClone(use.config));
  const [train, validation, demonstrations, examples] = await Promise.all([
    plan.dataset.train === undefined ? [] : load(plan.dataset.train),
    load(plan.dataset.validation),
    plan.warmStart === undefined ? [] : readDemonstrations(plan.warmStart.demonstrations),
    readExamples(plan),
  ]);
  const { problems } = preflight(
    plan,
    keptRows({ train, validation, demonstrations, examples }, plan.dataset.leftOut),
    framing,
  );
  if (problems.length > 0) throw refusal(displayPath(plan.pipelineFile), problems);
}
