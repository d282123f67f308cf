import { defined } from "../../base/records/defined.ts";
import { isObject, type JsonValue } from "../../contracts/json.ts";
import type { KeptRequest } from "../../contracts/session.ts";

/**
 * Returns the arguments that identify a call of a function: its leading JSON arguments, unwrapped if there is
 * only one and it is an object. Also returns the id of the action's call if an agent's library passes one
 * after them.
 */
export function callOf(given: unknown[]): Omit<KeptRequest, "name"> {
  const from = given.findIndex((one, index) => index > 0 && callIdIn(one) !== undefined);
  const callId = from < 0 ? undefined : callIdIn(given[from]);
  const leading: JsonValue[] = [];
  for (const one of given.slice(0, from < 0 ? undefined : from)) {
    if (one !== undefined && !isPlainJson(one)) break;
    leading.push(one ?? null);
  }
  const [first] = leading;
  const isOne = leading.length === 1 && isObject(first);
  return defined({
    arguments: isOne && first !== undefined ? first : leading,
    callId,
  });
}

/**
 * The AI SDK passes `toolCallId`, Mastra `agent.toolCallId`, LangChain.js `toolCall.id`, the agents SDK
 * `toolCall.callId`.
 */
function callIdIn(options: unknown): string | undefined {
  const { toolCallId, agent, toolCall }: FrameworkOptions = Object(options);
  const { toolCallId: ofAgent }: FrameworkOptions = Object(agent);
  const { callId, id }: { callId?: unknown; id?: unknown } = Object(toolCall);
  return [toolCallId, ofAgent, callId, id].find((one) => typeof one === "string");
}

interface FrameworkOptions {
  toolCallId?: unknown;
  agent?: unknown;
  toolCall?: unknown;
}

/**
 * Whether JSON can represent a value completely: text, finite numbers, true, false, null, lists and plain
 * objects. Undefined properties count as absent.
 */
export function isPlainJson(value: unknown): value is JsonValue | undefined {
  if (value === null || value === undefined) return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object") return typeof value === "string" || typeof value === "boolean";
  if (Array.isArray(value)) return value.every(isPlainJson);
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isPlainJson);
}
