import { isEverturnError } from "../../../base/errors/everturn-error.ts";
import { isObject, type JsonValue } from "../../../contracts/json.ts";
import type { ToolDefinition } from "../../../contracts/message.ts";
import type { DemonstratedTool, Plan } from "../../../contracts/plan.ts";
import { isAgentLoop } from "../../../contracts/plan-loops.ts";
import type { PolicyFraming } from "../../../contracts/policy.ts";
import { showsTools } from "../../../engine/tokens/shows-tools.ts";
import type { DemonstratedChat } from "../read/demonstrated-chat.ts";
import { noRowTools, type RowTools, rowToolsReader } from "../read/row-tools.ts";
import { offeredTools } from "./tool-definitions.ts";

/** Adds the tools that demonstrations show to the plan of an agent (decision 0110). */
export function withDemonstratedTools(
  plan: Plan,
  demonstrations: readonly DemonstratedChat[],
  framing: PolicyFraming | undefined,
): Plan {
  if (!isAgentLoop(plan.loop) || demonstrations.length === 0) return plan;
  const own = offeredTools(plan);
  const lists = [...new Set(demonstrations.map(({ tools = own }) => tools))];
  const first = new Map<string, ToolDefinition>();
  for (const tool of lists.flat()) if (!first.has(tool.name)) first.set(tool.name, tool);
  const isInAll = (name: string) => lists.every((list) => list.some((tool) => tool.name === name));
  const shown = [...first.values()].map(
    (tool): DemonstratedTool => (isInAll(tool.name) ? tool : { ...tool, sometimes: true }),
  );
  return { ...plan, demonstratedTools: hidesTools(framing, shown) ? [] : shown };
}

function hidesTools(framing: PolicyFraming | undefined, tools: readonly ToolDefinition[]): boolean {
  if (framing === undefined) return false;
  try {
    return !showsTools((given) => framing.framePrompt([{ role: "user", content: "Hi" }], given).text, tools);
  } catch (error) {
    if (!isEverturnError(error)) throw error;
    return false; // a template that needs other messages
  }
}

/** How demonstrations for a plan's run are read: with their own tools if the plan is that of an agent. */
export function rowToolsFor({ demonstratedTools }: Pick<Plan, "demonstratedTools">): RowTools {
  return demonstratedTools === undefined ? noRowTools : rowToolsReader();
}

/** The tools that the prompts of a plan's demonstrations show. */
export function toolsOfChats(plan: Plan): (chat: DemonstratedChat) => ToolDefinition[] {
  const own = offeredTools(plan);
  return ({ tools }) => (tools === undefined ? own : inDemonstratedForm(tools, plan.demonstratedTools));
}

/**
 * Returns tools in the order of the demonstrated ones, and their schemas with the demonstrated order of keys. Others
 * come last, in their own order. Only the annotation `$schema` is added or removed to match.
 */
export function inDemonstratedForm(
  tools: readonly ToolDefinition[],
  demonstrated: readonly ToolDefinition[] = [],
): ToolDefinition[] {
  const names = demonstrated.map(({ name }) => name);
  const place = ({ name }: ToolDefinition) => (names.includes(name) ? names.indexOf(name) : names.length);
  return tools
    .toSorted((one, other) => place(one) - place(other))
    .map((tool) => {
      const shown = demonstrated[names.indexOf(tool.name)];
      return shown === undefined
        ? tool
        : { ...tool, parameters: likeShown(tool.parameters, shown.parameters) };
    });
}

function likeShown(
  { $schema: _, ...parameters }: ToolDefinition["parameters"],
  shown: ToolDefinition["parameters"],
): ToolDefinition["parameters"] {
  const { $schema } = shown;
  return ordered($schema === undefined ? parameters : { ...parameters, $schema }, shown);
}

/** The same value with its keys, and the names in `required`, in the order of `model`. */
function orderedLike(value: JsonValue, model: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) {
    const models = Array.isArray(model) ? model : [];
    return value.map((item, index) => orderedLike(item, models[index]));
  }
  return isObject(value) && isObject(model) ? ordered(value, model) : value;
}

function ordered(value: ToolDefinition["parameters"], model: ToolDefinition["parameters"]) {
  const keys = inOrder(Object.keys(value), Object.keys(model));
  return Object.fromEntries(
    keys.map((key): [string, JsonValue] => {
      const [own = null, shown] = [value[key], model[key]];
      const isRequired = key === "required" && Array.isArray(own) && Array.isArray(shown);
      return [key, isRequired ? inOrder(own, shown) : orderedLike(own, shown)];
    }),
  );
}

function inOrder<Item>(items: readonly Item[], order: readonly Item[]): Item[] {
  const place = (item: Item) => (order.includes(item) ? order.indexOf(item) : order.length);
  return items.toSorted((one, other) => place(one) - place(other));
}
