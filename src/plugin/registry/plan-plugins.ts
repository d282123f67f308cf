import type { Plan, ResolvedPlugin } from "../../contracts/plan.ts";
import { planLoops } from "../../contracts/plan-loops.ts";

/** The plugins of a plan in the order of the pipeline. A plugin that is used twice appears twice. */
export function planPlugins({
  policy,
  dataset,
  tools,
  loop,
  loops,
  rewards,
  trainer,
  trackers = [],
}: Plan): ResolvedPlugin[] {
  const loss = trainer.loss === undefined ? [] : [trainer.loss];
  return [
    policy,
    ...(dataset.train === undefined ? [] : [dataset.train]),
    dataset.validation,
    ...tools,
    ...planLoops({ loop, loops }),
    ...rewards,
    trainer,
    ...loss,
    ...trackers,
  ];
}
