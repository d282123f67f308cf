import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { GroupScore, Score, Unscored } from "../../contracts/reward.ts";

const shown = 80;

/**
 * Validates a reward manager's score of a trajectory with `turnCount` turns. Throws PLUGIN_ANSWER_INVALID.
 */
export function checkedScore(plugin: string, given: unknown, turnCount: number): Score | Unscored {
  const refuse = (expected: string) => invalidAnswer(plugin, "score", given, expected);
  if (!isPlain(given) || Array.isArray(given)) throw refuse("it must be { reward, success }, or { missing }");
  const { reward, success, metrics, turns, missing } = given;
  if (missing !== undefined) {
    if (typeof missing === "string" && missing !== "" && reward === undefined) return { missing };
    throw refuse("“missing” must explain why there is no score, and be the only key");
  }
  if (!isNumber(reward)) throw refuse("“reward” must be a number to train on");
  if (typeof success !== "boolean") throw refuse("“success” must be true or false");
  return { reward, success, ...checkedMetrics(metrics, refuse), ...checkedTurns(turns, turnCount, refuse) };
}

/** Validates the scores of a group reward for `count` members. Throws PLUGIN_ANSWER_INVALID. */
export function checkedGroupScores(plugin: string, given: unknown, count: number): (GroupScore | Unscored)[] {
  const refuse = (expected: string) => invalidAnswer(plugin, "scoreGroup", given, expected);
  if (!Array.isArray(given) || given.length !== count)
    throw refuse(`it must be a list of ${count}, { reward } or { missing } for each member`);
  return given.map((one: unknown, index) => {
    if (!isPlain(one) || Array.isArray(one)) throw refuse(`[${index}] must be { reward }, or { missing }`);
    const { reward, metrics, missing } = one;
    if (missing !== undefined) {
      if (typeof missing === "string" && missing !== "" && reward === undefined) return { missing };
      throw refuse(`“missing” of [${index}] must explain why there is no score, and be the only key`);
    }
    if (!isNumber(reward)) throw refuse(`“reward” of [${index}] must be a number to train on`);
    return { reward, ...checkedMetrics(metrics, refuse) };
  });
}

/**
 * Validates a snapshot and copies it, because a view would transfer its whole buffer. Undefined if there is
 * none.
 */
export function checkedSnapshot(plugin: string, given: unknown): Uint8Array | undefined {
  if (given === undefined) return undefined;
  if (given instanceof Uint8Array) return new Uint8Array(given);
  throw invalidAnswer(plugin, "snapshot", given, "it must be bytes, a Uint8Array, or nothing");
}

/** Validates the reason why a task is refused. Undefined if it is not refused. */
export function checkedRefusal(plugin: string, given: unknown): string | undefined {
  if (given === undefined || (typeof given === "string" && given !== "")) return given;
  throw invalidAnswer(plugin, "refusal", given, "it must be a text with the reason, or absent");
}

/** Validates numbers by name. Absent if there are none. */
export function checkedMetrics(
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

function checkedTurns(
  turns: unknown,
  count: number,
  refuse: (expected: string) => EverturnError,
): { turns?: number[] } {
  if (turns === undefined) return {};
  if (Array.isArray(turns) && turns.length === count && turns.every(isNumber)) return { turns };
  throw refuse(`“turns” must be a number for each of the ${count} turns`);
}

/** Whether a value is a list or an object without a class. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Array.isArray(value);
}

/** Whether a value is a number that JSON can represent. */
export function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** The error that describes an invalid answer of a plugin's function. */
export function invalidAnswer(plugin: string, name: string, given: unknown, expected: string): EverturnError {
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
    return JSON.stringify(value, (_, one) => shownValue(one)).slice(0, shown);
  } catch {
    return "an object that JSON cannot hold";
  }
}

/** Replaces values for a message: JSON has no NaN, and bytes would be too long. */
function shownValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}
