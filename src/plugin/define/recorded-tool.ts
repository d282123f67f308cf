import type { KeptRequest } from "../../contracts/session.ts";
import { callOf } from "./recorded-arguments.ts";

type Work = (...given: unknown[]) => unknown;
type Read = (given: unknown[]) => Omit<KeptRequest, "name">;

/**
 * Returns a copy of a library's tool, recognized by its shape, in which `wrap` replaces the working function.
 * Undefined if the value is not such a tool. `read` returns the arguments that identify a call of that
 * function.
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

/** A copy of the same class, with these properties. */
function withOwn(value: object, own: Record<string, unknown>): object {
  const copy: object = Object.create(Object.getPrototypeOf(value), Object.getOwnPropertyDescriptors(value));
  for (const [name, one] of Object.entries(own)) {
    Object.defineProperty(copy, name, { value: one, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}
