import { visible } from "../../../base/processes/terminal.ts";
import { estimateText } from "../../../base/text/estimate.ts";
import { grouped } from "../../../base/text/format.ts";
import type { EvaluationNumbers } from "../../../contracts/measured.ts";
import { tableLines } from "./table.ts";

/** A table of measures: a line for all tasks, then one for each source and tag that differs from all. */
export function numbersLines(numbers: EvaluationNumbers): string[] {
  const names = Object.keys(numbers.measures);
  const right = (title: string) => ({ title, align: "right" as const });
  const rows = namedGroups(numbers, numbers.bySource, numbers.byTag).map(([title, { tasks, measures }]) => [
    title,
    grouped(tasks),
    ...names.map((name) => {
      const measure = measures[name];
      return measure === undefined ? "–" : estimateText(name, measure);
    }),
  ]);
  return tableLines([{ title: "" }, ...["tasks", ...names].map(right)], rows);
}

/** All tasks and those of each source and tag, under their titles. Groups that contain all tasks are skipped. */
export function namedGroups<Group extends { tasks: number }>(
  all: Group,
  bySource: Record<string, Group>,
  byTag: Record<string, Group>,
): [title: string, group: Group][] {
  const named = (word: string, groups: Record<string, Group>) =>
    Object.entries(groups)
      .filter(([, { tasks }]) => tasks < all.tasks)
      .map(([name, group]): [string, Group] => [`${word} ${visible(name)}`, group]);
  return [["all", all], ...named("source", bySource), ...named("tag", byTag)];
}
