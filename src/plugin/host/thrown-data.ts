import { everturnMarker, isEverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { defined } from "../../base/records/defined.ts";

/** A thrown value in a form that can cross between threads. */
export interface ThrownData {
  name: string;
  message: string;
  stack?: string;
  cause?: ThrownData;
  /** Set for an error of the table. */
  entry?: { code: string; params: Record<string, string | number>; retryable: boolean; help: string };
}

/** Causes deeper than this are left out. */
const maximumDepth = 5;

/** Converts a thrown value to data. */
export function thrownData(thrown: unknown, depth = 0): ThrownData {
  if (!(thrown instanceof Error)) return { name: "Error", message: messageOf(thrown) };
  const { name, message, stack, cause } = thrown;
  return defined({
    name,
    message,
    stack,
    cause: cause === undefined || depth === maximumDepth ? undefined : thrownData(cause, depth + 1),
    entry: isEverturnError(thrown) ? entryOf(thrown) : undefined,
  });
}

function entryOf({ code, params, retryable, help }: NonNullable<ThrownData["entry"]>) {
  return { code, params: { ...params }, retryable, help };
}

/** Rebuilds the error from the data, with its original stack. */
export function errorOf({ name, message, stack, cause, entry }: ThrownData): Error {
  const error = new Error(message, cause === undefined ? {} : { cause: errorOf(cause) });
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return entry === undefined ? error : Object.assign(error, entry, { problems: [], [everturnMarker]: true });
}
