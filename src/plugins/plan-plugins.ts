import type { Plan, ResolvedPlugin } from "../contracts/plan.ts";

/** The plugins of a plan in the order of the pipeline; one that is used twice stands there twice. */
export function planPlugins({
  policy,
  dataset,
  tools,
  loop,
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
    loop,
    ...rewards,
    trainer,
    ...loss,
    ...trackers,
  ];
}
