import type { JsonObject, JsonValue } from "everturn/plugin";

/** The maximum bytes of an answer. */
const longest = 8 * 1024 * 1024;

/** One action of a trajectory. */
export interface Asked {
  trajectory: string;
  action: string;
  extraFields: JsonObject;
  finish?: boolean;
}

/** The server's observation of an action. */
export interface Observed {
  observation: string | JsonObject;
  done: boolean;
  valid: boolean;
}

/**
 * Posts an action. Throws the errors of `fetch`, and an error if the answer is an error, too long, or not the
 * observation of one action.
 */
export async function observe(
  url: string,
  { trajectory, action, extraFields, finish = false }: Asked,
  signal: AbortSignal,
): Promise<Observed> {
  const response = await fetch(url, {
    method: "POST",
    redirect: "error",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({
      trajectory_ids: [trajectory],
      actions: [action],
      extra_fields: [extraFields],
      finish: [finish],
      is_last_step: [finish],
    }),
    signal,
  });
  const text = await textOf(response);
  if (!response.ok) throw new Error(`the server answered ${response.status}: ${text.slice(0, 200)}`);
  return observedIn(parsed(text));
}

/**
 * When the server started, by its own clock, in milliseconds. Undefined if it does not report it. Throws the
 * errors of `fetch`.
 */
export async function startOf(url: string, signal: AbortSignal): Promise<number | undefined> {
  const at = new URL(url);
  const health = new URL(`health${at.search}`, at); // the query may contain a token
  const response = await fetch(health, { redirect: "error", signal });
  const text = await textOf(response);
  if (!response.ok) return undefined;
  const { uptime_seconds: uptime } = object(parsed(text)) ?? {};
  return typeof uptime === "number" ? Date.now() - 1000 * uptime : undefined;
}

function observedIn(answer: JsonValue): Observed {
  const { observations, dones, valids } = object(answer) ?? {};
  const [observation] = list(observations);
  const [done] = list(dones);
  const [valid] = list(valids);
  if (typeof observation !== "string" && object(observation) === undefined)
    throw new Error(`the server's answer has no observation: ${JSON.stringify(answer).slice(0, 200)}`);
  if (!isFlag(done) || !isFlag(valid)) throw new Error("the server's answer does not say done and valid");
  return {
    observation: object(observation) ?? String(observation),
    done: Boolean(done),
    valid: Boolean(valid),
  };
}

function isFlag(value: JsonValue | undefined): boolean {
  return typeof value === "boolean" || value === 0 || value === 1;
}

function list(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) && value.length === 1 ? value : [];
}

function object(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`the server's answer is not JSON: ${text.slice(0, 200)}`);
  }
}

async function textOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > longest) throw new Error(`the server's answer is longer than ${longest} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
