import type { JsonObject, JsonValue } from "everturn/plugin";

/** A function as declared in the configuration. */
export interface Declared {
  description: string;
  parameters: JsonObject;
  url: string;
  method: string;
  /** The parameters of the query that are not in `url`. */
  query: JsonObject;
  /** The request's body. Undefined if nothing is sent. */
  body: JsonValue | undefined;
  observation: string | undefined;
  error: string | undefined;
}

/**
 * Reads the functions of a configuration that matches its schema. Throws if one can't be called as declared.
 */
export function declaredFunctions({ functions }: JsonObject): Map<string, Declared> {
  return new Map(Object.entries(object(functions)).map(([name, one]) => [name, declared(name, object(one))]));
}

function declared(name: string, given: JsonObject): Declared {
  const parameters: JsonObject = { type: "object", ...object(given.parameters) };
  const known = Object.keys(object(parameters.properties));
  const url = String(given.url);
  const method = String(given.method ?? "POST");
  const hasBody = method !== "GET" && method !== "DELETE";
  const inUrl = [...url.matchAll(/\{([^{}]*)\}/g)].map(([, argument = ""]) => argument);
  const rest = Object.fromEntries(known.filter((one) => !inUrl.includes(one)).map((one) => [one, `$${one}`]));
  if (/[{}]/.test(hostOf(url)))
    throw new Error(`“url” of ${name} has an argument in its host: the model would choose whom to ask`);
  const query = given.query === undefined ? (hasBody ? {} : rest) : object(given.query);
  const body = given.body ?? (hasBody ? rest : undefined);
  const used = [...inUrl, ...placesIn(query), ...placesIn(body ?? null)];
  const unknown = used.find((one) => !known.includes(one));
  if (unknown !== undefined)
    throw new Error(`the request of ${name} has the argument ${unknown}, which its parameters lack`);
  return {
    description: String(given.description),
    parameters,
    url,
    method,
    query,
    body,
    observation: given.observation === undefined ? undefined : String(given.observation),
    error: given.error === undefined ? undefined : String(given.error),
  };
}

/**
 * The part of a URL between the scheme and the path, as written. An argument may not be in a password either.
 */
function hostOf(url: string): string {
  return /^https?:\/\/([^/?#\\]*)/.exec(url)?.[1] ?? "";
}

function placesIn(value: JsonValue): string[] {
  if (typeof value === "string") return /^\$[A-Za-z_]/.test(value) ? [value.slice(1)] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(placesIn);
}

/**
 * Replaces each `$name` in a value with the argument. Missing arguments are left out of objects, and are null
 * in lists.
 */
export function filled(value: JsonValue, given: JsonObject): JsonValue | undefined {
  if (typeof value === "string" && /^\$[A-Za-z_]/.test(value)) return own(given, value.slice(1));
  if (Array.isArray(value)) return value.map((item) => filled(item, given) ?? null);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, filled(item, given)] as const);
  return Object.fromEntries(entries.flatMap(([key, item]) => (item === undefined ? [] : [[key, item]])));
}

/**
 * Returns the URL of a request. An argument must stay within its part of the path, otherwise the result is
 * invalid. Throws if the URL contains an argument that was not given.
 */
export function addressOf({ url, query }: Declared, given: JsonObject): URL | { invalid: string } {
  const written = url.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const value = own(given, name);
    if (value === undefined)
      throw new Error(`the URL needs the argument ${name}: let the parameters require it`);
    return encodeURIComponent(textOf(value));
  });
  const [path = ""] = written.split(/[?#]/);
  if (path.split("/").some((part) => part === "." || part === ".."))
    return { invalid: "an argument of the path can't be “.” or “..”" };
  const address = new URL(written);
  for (const [name, value] of Object.entries(object(filled(query, given)))) {
    for (const one of Array.isArray(value) ? value : [value]) address.searchParams.append(name, textOf(one));
  }
  return address;
}

/** The value at keys separated by dots. Items of a list have numbers. */
export function valueAt(value: JsonValue, path: string): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const key of path.split(".")) {
    if (typeof current !== "object" || current === null) return undefined;
    current = own(Object.fromEntries(Object.entries(current)), key);
  }
  return current;
}

export function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function own(value: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function object(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
