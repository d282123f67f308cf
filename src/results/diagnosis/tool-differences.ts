import { isObject, type JsonValue } from "../../contracts/json.ts";
import type { ToolDefinition } from "../../contracts/message.ts";
import type { DemonstratedTool } from "../../contracts/plan.ts";
import { mentions } from "../../engine/tokens/shows-tools.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import type { TrajectoryName } from "../../run/store/keys.ts";
import type { Store } from "../../run/store/store.ts";
import { recordedTurns } from "../../run/trajectory/segments.ts";

/** The most characters of a value in a difference, and those of them before the place where two texts differ. */
const [longest, before] = [60, 20];

/**
 * How the tools in an agent's first recorded prompt differ from those of the demonstrations, one entry per difference.
 * `names` are trajectories; the first one with an agent counts. Undefined if there is no difference, no demonstration
 * or no agent.
 */
export async function differencesOfTools(
  { plan: { demonstratedTools }, store }: Pick<OpenRun, "plan" | "store">,
  names: readonly TrajectoryName[],
): Promise<string[] | undefined> {
  if (demonstratedTools === undefined) return undefined;
  const tools = await promptedTools(store, names);
  const found = tools === undefined ? [] : toolDifferences(tools, demonstratedTools);
  return found.length === 0 ? undefined : found;
}

/** The tools of the first prompt that shows any; none if the prompts of the first agent show none. */
async function promptedTools(
  store: Pick<Store, "read">,
  names: readonly TrajectoryName[],
): Promise<ToolDefinition[] | undefined> {
  for (const name of names) {
    let isAgent = false;
    for await (const { request, appended } of recordedTurns(store, name)) {
      if (request === undefined) break; // the turn of another loop
      isAgent = true;
      const tools = (request.tools ?? []).filter((tool) => mentions(appended.text, tool.name) > 0);
      if (tools.length > 0) return tools;
    }
    if (isAgent) return [];
  }
  return undefined;
}

/** How the tools of an agent differ from demonstrated ones. Their order and that of their keys do not count. */
export function toolDifferences(
  tools: readonly ToolDefinition[],
  demonstrated: readonly DemonstratedTool[],
): string[] {
  const isIn = (list: readonly ToolDefinition[]) => (tool: ToolDefinition) =>
    list.some(({ name }) => name === tool.name);
  const extra = tools.filter((tool) => !isIn(demonstrated)(tool));
  const missing = demonstrated.filter((tool) => tool.sometimes !== true && !isIn(tools)(tool));
  const changed = tools.flatMap((tool) => {
    const other = demonstrated.find(({ name }) => name === tool.name);
    return other === undefined ? [] : changes(tool, other);
  });
  return [
    ...extra.map(({ name }) => `the agent offers ${name}, which no demonstration shows`),
    ...missing.map(({ name }) => `the demonstrations show ${name}, which the agent does not offer`),
    ...changed,
  ];
}

/** The first difference of two tools with the same name. */
function changes(tool: ToolDefinition, other: ToolDefinition): string[] {
  const found =
    firstDifference(tool.description, other.description, "description") ??
    firstDifference(tool.parameters, other.parameters, "parameters");
  if (found === undefined) return [];
  const [own, shown] = [jsonOf(found.one), jsonOf(found.other)];
  const from = Math.max(0, equalStart(own, shown) - before);
  const [is, but] = [excerpt(own, from), excerpt(shown, from)];
  return [`${tool.name}: ${found.path} is ${is}, but ${but} in the demonstrations`];
}

interface Difference {
  path: string;
  one: JsonValue | undefined;
  other: JsonValue | undefined;
}

function firstDifference(
  one: JsonValue | undefined,
  other: JsonValue | undefined,
  path: string,
): Difference | undefined {
  const isSameKind = Array.isArray(one) === Array.isArray(other);
  if (!isSameKind || !isContainer(one) || !isContainer(other))
    return one === other ? undefined : { path, one, other };
  const [entries, others] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
  for (const key of new Set([...others.keys(), ...entries.keys()])) {
    const found = firstDifference(entries.get(key), others.get(key), `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isContainer(value: JsonValue | undefined): value is Extract<JsonValue, object> {
  return Array.isArray(value) || isObject(value);
}

function jsonOf(value: JsonValue | undefined): string {
  return value === undefined ? "absent" : JSON.stringify(value);
}

/** The number of characters with which both texts begin. */
function equalStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}

/** The whole text if it is short, otherwise a part of it that begins at `from`. */
function excerpt(text: string, from: number): string {
  if (text.length <= longest) return text;
  const end = from + longest;
  return `${from > 0 ? "…" : ""}${text.slice(from, end)}${end < text.length ? "…" : ""}`;
}
