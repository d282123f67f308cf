import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../base/errors/message-of.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import { readShown } from "../../../chat/images/message-images.ts";
import { shownPrompt } from "../../../chat/images/shown-images.ts";
import type { Plan } from "../../../contracts/plan.ts";
import { loadPolicy } from "../../../plugin/registry/registry.ts";
import { placeOfRow } from "../read/row-problems.ts";
import { namedSets } from "../read/task-sets.ts";
import type { RunData } from "./preflight.ts";
import { looked } from "./sized-images.ts";

/**
 * Returns the problems with the images in prompts: the policy reads no images, a row has more or fewer images
 * than its prompt shows, or an image of the first 200 rows can't be used. Reports the first affected row of
 * each set.
 */
export async function imageProblems({
  plan: { policy, dataset },
  data: { train = [], validation = [], taskFile = [], demonstrations = [], examples },
}: {
  plan: Pick<Plan, "policy" | "dataset">;
  data: RunData;
}): Promise<Problem[]> {
  const sets = namedSets({ train, validation, taskFile });
  const traits = (await loadPolicy(policy)).traits?.(structuredClone(policy.config));
  const problems: Problem[] = [];
  const [seen] = [...demonstrations, ...(examples?.learned ?? [])].filter((chat) => chat.shown !== undefined);
  if (seen !== undefined && traits?.readsImages !== true) {
    const place = placeOfRow(seen, "demonstrations");
    const params = { at: place.text, tasks: "a demonstration", policy: policy.name };
    problems.push({ place, error: new EverturnError("IMAGES_NOT_READ", params) });
  }
  for (const [set, tasks] of sets) {
    for (const [index, task] of tasks.entries()) {
      const place = placeOfRow(task, set);
      const params = { at: place.text, tasks: `a task of ${set}` };
      try {
        const shown = shownPrompt(task);
        if (shown === undefined) continue;
        if (traits?.readsImages !== true) {
          problems.push({
            place,
            error: new EverturnError("IMAGES_NOT_READ", { ...params, policy: policy.name }),
          });
          break;
        }
        if (index < looked) await readShown(shown, dataset.images);
      } catch (error) {
        problems.push({
          place,
          error: new EverturnError("IMAGE_UNUSABLE", { ...params, reason: messageOf(error) }),
        });
        break;
      }
    }
  }
  return problems;
}
