import { isObject, type JsonObject, type JsonValue } from "everturn/plugin";
import { isAccepted } from "./values.ts";

/** A call that a model wrote. */
export interface Written {
  name: string;
  arguments: JsonObject;
}

/** An accepted call with the right values of each argument. If "" is among them, the argument is optional. */
export interface Allowed {
  name: string;
  values: ReadonlyMap<string, readonly JsonValue[]>;
}

/**
 * Counts the accepted calls that were made, in any order. Each needs a call of its own, the first that fits.
 */
export function matchedCalls(
  calls: readonly Written[],
  accepted: readonly Allowed[],
  functions: readonly JsonObject[],
): number {
  const left = new Set(calls);
  for (const one of accepted) {
    const described = functions.find(({ name }) => name === one.name);
    const match = [...left].find((call) => isRight(call, one, described));
    if (match !== undefined) left.delete(match);
  }
  return calls.length - left.size;
}

function isRight(call: Written, { name, values }: Allowed, described: JsonObject | undefined): boolean {
  if (call.name !== name) return false;
  const parameters = isObject(described?.parameters) ? described.parameters : {};
  const properties = isObject(parameters.properties) ? parameters.properties : undefined;
  const required = Array.isArray(parameters.required) ? parameters.required : [];
  const given = Object.entries(call.arguments);
  return (
    required.every((key) => Object.hasOwn(call.arguments, String(key))) &&
    given.every(([key, value]) => {
      const accepted = values.get(key);
      const property = properties?.[key];
      if (accepted === undefined || (properties !== undefined && !isObject(property))) return false;
      return isAccepted(value, accepted, isObject(property) ? property : {});
    }) &&
    [...values].every(([key, accepted]) => Object.hasOwn(call.arguments, key) || accepted.includes(""))
  );
}
