import type { Score } from "../contracts/reward.ts";
import type { ToolResponse } from "../contracts/tool.ts";
import { EverturnError } from "../errors/everturn-error.ts";

const shown = 80;

/**
 * What a tool answered, checked. A plain value is its text; an object or a list without `text` is told as JSON.
 * Throws PLUGIN_ANSWER_INVALID.
 */
export function checkedResponse(plugin: string, given: unknown): ToolResponse {
  const refuse = (expected: string) => invalid(plugin, "execute", given, expected);
  const plain = plainText(given);
  if (plain !== undefined) return { text: plain };
  if (!isPlain(given)) throw refuse("it must be { text }, or a value that JSON can hold");
  if (Array.isArray(given) || !("text" in given)) {
    try {
      return { text: JSON.stringify(given) };
    } catch {
      throw refuse("it must be { text }, or a value that JSON can hold");
    }
  }
  const { text, error, reward, metrics } = given;
  const said = plainText(text);
  if (said === undefined) throw refuse("“text” must be text");
  if (error !== undefined && typeof error !== "boolean") throw refuse("“error” must be true or false");
  if (reward !== undefined && !isNumber(reward)) throw refuse("“reward” must be a number");
  return {
    text: said,
    ...(error === undefined ? {} : { error }),
    ...(reward === undefined ? {} : { reward }),
    ...checkedMetrics(metrics, refuse),
  };
}

/** A reward manager's score, checked. Throws PLUGIN_ANSWER_INVALID. */
export function checkedScore(plugin: string, given: unknown): Score {
  const refuse = (expected: string) => invalid(plugin, "score", given, expected);
  if (!isPlain(given) || Array.isArray(given)) throw refuse("it must be { reward, success }");
  const { reward, success, metrics } = given;
  if (!isNumber(reward)) throw refuse("“reward” must be a number to train on");
  if (typeof success !== "boolean") throw refuse("“success” must be true or false");
  return { reward, success, ...checkedMetrics(metrics, refuse) };
}

/** A snapshot, checked, as a copy: a view would cross with all of the buffer that it looks at. */
export function checkedSnapshot(plugin: string, given: unknown): Uint8Array {
  if (given instanceof Uint8Array) return new Uint8Array(given);
  throw invalid(plugin, "snapshot", given, "it must be bytes, a Uint8Array");
}

function checkedMetrics(
  metrics: unknown,
  refuse: (expected: string) => EverturnError,
): { metrics?: Record<string, number> } {
  if (metrics === undefined) return {};
  if (!isPlain(metrics) || Array.isArray(metrics)) throw refuse("“metrics” must be numbers by name");
  const checked: Record<string, number> = {};
  for (const [name, value] of Object.entries(metrics)) {
    if (!isNumber(value)) throw refuse(`“metrics.${name}” must be a number`);
    checked[name] = value;
  }
  return { metrics: checked };
}

function plainText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" || typeof value === "bigint"
    ? String(value)
    : undefined;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Array.isArray(value);
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function invalid(plugin: string, name: string, given: unknown, expected: string): EverturnError {
  return new EverturnError("PLUGIN_ANSWER_INVALID", { plugin, name, given: described(given), expected });
}

function described(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return `the text ${JSON.stringify(value).slice(0, shown)}`;
  if (typeof value === "number") return `the number ${value}`;
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  if (typeof value !== "object" || value === null) return String(value);
  if (!isPlain(value)) return `a ${value.constructor.name}`;
  try {
    return JSON.stringify(value, (_, one) => (typeof one === "number" ? numberText(one) : one)).slice(
      0,
      shown,
    );
  } catch {
    return "an object that JSON cannot hold";
  }
}

/** JSON has no NaN. */
function numberText(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}
