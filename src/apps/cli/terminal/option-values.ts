import { InvalidArgumentError } from "commander";
import { messageOf } from "../../../base/errors/message-of.ts";
import { InexactNumberError, parseExactJson } from "../../../base/json/exact-json.ts";
import type { JsonObject } from "../../../contracts/json.ts";

/** Collects the values of an option that may be repeated. */
export function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

/** An option's value as a number. */
export function decimal(value: string): number {
  const parsed = Number(value);
  if (value.trim() === "" || !Number.isFinite(parsed)) throw new InvalidArgumentError("It is not a number.");
  return parsed;
}

/** An option's value as a temperature: 0 (greedy) or more. */
export function temperature(value: string): number {
  const parsed = decimal(value);
  if (parsed < 0) throw new InvalidArgumentError("It must be 0 or more.");
  return parsed;
}

/** An option's value as a share: 0 to 1. */
export function share(value: string): number {
  const parsed = decimal(value);
  if (parsed < 0 || parsed > 1) throw new InvalidArgumentError("It must be from 0 to 1.");
  return parsed;
}

/** An option's value as a whole number, 0 or more. */
export function count(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError("It is not a whole number.");
  return Number(value);
}

/** An option's value as a whole number, 1 or more. */
export function positiveCount(value: string): number {
  const parsed = count(value);
  if (parsed === 0) throw new InvalidArgumentError("It must be at least 1.");
  return parsed;
}

/** An option's value as a priority of Temporal's: 1 (first) to 5 (last). */
export function priority(value: string): number {
  if (!/^[1-5]$/.test(value)) throw new InvalidArgumentError("It must be from 1 to 5.");
  return Number(value);
}

/** An option's value as a JSON object. */
export function jsonObject(value: string): JsonObject {
  let parsed: unknown;
  try {
    parsed = parseExactJson(value);
  } catch (error) {
    throw new InvalidArgumentError(
      error instanceof InexactNumberError
        ? `${messageOf(error)}: put it in quotes, as text.`
        : `It is not JSON: ${messageOf(error)}.`,
    );
  }
  if (isJsonObject(parsed)) return parsed;
  throw new InvalidArgumentError('It is not a JSON object, such as {"expression": "1 + 1"}.');
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
