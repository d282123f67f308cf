import type { Task } from "../../contracts/generated/task.ts";

/**
 * The tags of a task: its `ability`, and the `tags` of the row or of its `extra_info`, which are a text or a list of
 * texts.
 */
export function tagsOf({ ability, tags, extra_info: info }: Task): string[] {
  return [...new Set([ability, tags, info?.tags].flatMap(textsIn))];
}

function textsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return typeof value === "string" && value !== "" ? [value] : [];
}

/**
 * Applies `of` to the members of each group, in the order of the groups' names. A member may be in several groups.
 */
export function byName<Member, Result>(
  members: readonly Member[],
  namesOf: (member: Member) => readonly string[],
  of: (members: readonly Member[]) => Result,
): Record<string, Result> {
  const groups = new Map<string, Member[]>();
  for (const member of members) {
    for (const name of namesOf(member)) groups.set(name, [...(groups.get(name) ?? []), member]);
  }
  const named = [...groups].sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(named.map(([name, group]) => [name, of(group)]));
}
