import { messageOf } from "../../base/errors/message-of.ts";
import { InexactNumberError, parseExactJson } from "../../base/json/exact-json.ts";
import { isObject, type JsonObject } from "../../contracts/json.ts";
import { invalid } from "./endpoint-problem.ts";
import { type Field, kindOf, textIn } from "./fields.ts";

/**
 * A call's arguments in a request's history: the JSON text of an object. Throws EndpointProblem if they are anything
 * else.
 */
export function callArgumentsIn(field: Field): string {
  const text = textIn(field);
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch (error) {
    if (error instanceof InexactNumberError)
      throw invalid(field.at, `cannot be kept: ${error.message}. Send it as a text`);
    throw invalid(field.at, `is not JSON (${messageOf(error)}): send the JSON text of an object`);
  }
  if (!isObject(value))
    throw invalid(field.at, `is the JSON of ${kindOf(value)}: send the JSON text of an object`);
  return text;
}

/** A call's arguments from a text that `callArgumentsIn` has checked. Throws SyntaxError for invalid text. */
export function callArguments(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (isObject(value)) return value;
  throw new SyntaxError(`the arguments of a call are ${kindOf(value)}`);
}
