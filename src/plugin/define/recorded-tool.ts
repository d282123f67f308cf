import type { KeptRequest } from "../../contracts/session.ts";
import { callOf } from "./recorded-arguments.ts";

type Work = (...given: unknown[]) => unknown;
type Read = (given: unknown[]) => Omit<KeptRequest, "name">;

/**
 * A tool of a library, known by its shape, with the function that does its work replaced by what `wrap` makes of it; undefined if the
 * value is none. `read` says what a call of that function is known by. The tool itself is left as it is.
 */
export function withCalls(value: unknown, wrap: (work: Work, read: Read) => Work): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  const { invoke, execute, _call: call, function: ofChat }: Parts = value;
  const { lc_namespace: isLangChain }: { lc_namespace?: unknown } = value;
  if (isLangChain !== undefined && isWork(call)) return withOwn(value, { _call: wrap(call, callOf) });
  if (isWork(execute)) return withOwn(value, { execute: wrap(execute, callOf) });
  if (isWork(invoke)) return withOwn(value, { invoke: wrap(invoke, callOfAgents) });
  const { function: work }: Parts = Object(ofChat);
  if (isWork(work))
    return withOwn(value, { function: withOwn(Object(ofChat), { function: wrap(work, callOf) }) });
  return undefined;
}

interface Parts {
  invoke?: unknown;
  execute?: unknown;
  _call?: unknown;
  function?: unknown;
}

function isWork(value: unknown): value is Work {
  return typeof value === "function";
}

/** OpenAI's agents SDK calls a tool with its context, the arguments as JSON text, and details. */
function callOfAgents([, written, ...rest]: unknown[]): Omit<KeptRequest, "name"> {
  return callOf([parsed(written), ...rest]);
}

function parsed(written: unknown): unknown {
  try {
    return typeof written === "string" ? JSON.parse(written) : written;
  } catch {
    return written;
  }
}

/** A copy with these properties, of the same class. */
function withOwn(value: object, own: Record<string, unknown>): object {
  const copy: object = Object.create(Object.getPrototypeOf(value), Object.getOwnPropertyDescriptors(value));
  for (const [name, one] of Object.entries(own)) {
    Object.defineProperty(copy, name, { value: one, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}
