import { displayPath } from "../../../base/validation/place.ts";
import { refusal } from "../../../base/validation/problem.ts";
import type { Plan, ResolvedPlugin } from "../../../contracts/plan.ts";
import { loadDataset } from "../../../plugin/registry/registry.ts";
import { readDemonstrations } from "../read/demonstrations.ts";
import { readExamples } from "../read/examples.ts";
import { rowToolsFor } from "../resolve/demonstrated-tools.ts";
import { keptRows } from "./overlong-prompts.ts";
import { policyFraming, preflight } from "./preflight.ts";
import { sizedImages } from "./sized-images.ts";
import { toolsShown } from "./tools-shown.ts";

/**
 * Checks a plan's rows with the framing of the policy in `folder`, for a policy that could not frame text
 * before it was built. Throws WRONG_CONFIGURATION.
 */
export async function refuseRows(plan: Plan, folder: string): Promise<void> {
  const framing = await policyFraming(plan.policy, folder);
  if (framing === undefined) return;
  const load = async (use: ResolvedPlugin) => (await loadDataset(use)).load(structuredClone(use.config));
  const rowTools = rowToolsFor(plan);
  const [train, validation, demonstrations, examples] = await Promise.all([
    plan.dataset.train === undefined ? [] : load(plan.dataset.train),
    load(plan.dataset.validation),
    plan.warmStart === undefined ? [] : readDemonstrations(plan.warmStart.demonstrations, rowTools),
    readExamples(plan, rowTools),
  ]);
  const data = keptRows({ train, validation, demonstrations, examples }, plan.dataset.leftOut);
  const file = displayPath(plan.pipelineFile);
  const place = { file, line: 1, column: 1, text: file };
  const problems = [
    ...preflight(plan, data, framing, await sizedImages(plan, data)).problems,
    ...toolsShown(plan, data, framing, place).problems,
  ];
  if (problems.length > 0) throw refusal(file, problems);
}
