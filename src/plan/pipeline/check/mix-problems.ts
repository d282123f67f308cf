import { suggestion } from "../../../base/validation/nearest.ts";
import { child } from "../../../base/validation/pointer.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import { placeOf } from "../../../base/validation/source-document.ts";
import { wrongCombination } from "../read/wrong-combination.ts";
import type { LoadedPlan } from "./loaded-plan.ts";

/**
 * Returns the sources in `dataset.mix` that no training task has, the tasks' sources that it does not name,
 * and a mix whose weights are all 0.
 */
export function mixProblems({ plan, data, document }: LoadedPlan): Problem[] {
  const { mix } = plan.dataset;
  const { train: tasks = [] } = data;
  if (mix === undefined) return [];
  const sources = [...new Set(tasks.map(({ data_source: source }) => source))];
  const strange = Object.keys(mix).filter((name) => !sources.includes(name));
  const missing = sources.filter((source) => !Object.hasOwn(mix, source));
  const problem = (pointer: string, reason: string, hint: string) =>
    wrongCombination(placeOf(document, pointer, "value"), pointer, reason, hint);
  const unnamed = missing.map((source) => `“${source}”`).join(", ");
  return [
    ...strange.map((name) => {
      const hint = suggestion(name, sources, "Their data sources are");
      return problem(
        child("/dataset/mix", name),
        "is the share of a data source that no training task has",
        hint,
      );
    }),
    ...(missing.length === 0
      ? []
      : [
          problem(
            "/dataset/mix",
            `says nothing of ${unnamed}`,
            "Give each a weight: 0 leaves its tasks out.",
          ),
        ]),
    ...(Object.values(mix).some((weight) => weight > 0)
      ? []
      : [problem("/dataset/mix", "leaves all tasks out", "Give at least one data source a weight above 0.")]),
  ];
}
