import { leftOutRows } from "../../../base/validation/json-lines.ts";
import type { RunData } from "./preflight.ts";

/** Notes for people about the rows that data sets left out. */
export function leftOutNotes({
  train = [],
  validation = [],
}: Pick<RunData, "train" | "validation">): string[] {
  return Object.entries({ "dataset.train": train, "dataset.validation": validation }).flatMap(
    ([name, tasks]) => {
      const { count, problems } = leftOutRows(tasks);
      if (count === 0) return [];
      return [
        `${name}: ${count} of ${count + tasks.length} rows left out, as badRows says:\n  ${problems.join("\n  ")}`,
      ];
    },
  );
}
