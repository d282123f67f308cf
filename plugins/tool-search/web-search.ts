import type { JsonObject, JsonValue } from "everturn/plugin";
import type { Found } from "./corpus.ts";
import type { Search } from "./embedded.ts";

/** The request and the answer of a web search API. */
export interface WebApi {
  /** Contains `$query` (and `$topk`) if the query belongs in the URL. */
  url: string;
  /** Any JSON in which $query and $topk are replaced. It is posted. Undefined: GET. */
  body: JsonObject | undefined;
  /** Keys separated by dots: the place of the list, and of the other values in each item. */
  answer: { passages: string; text: string; title: string | undefined; id: string | undefined };
  /**
   * The environment variable with the key, and the header for it. Default header: authorization, as a bearer
   * token.
   */
  key: { variable: string; header: string | undefined } | undefined;
}

/**
 * Searches through a web search API, such as Serper's, Brave's or Tavily's, as declared. Throws errors that
 * the retry policy handles.
 */
export function searchWeb({ url, body, answer, key }: WebApi): Search {
  const host = new URL(url).host;
  return async (query, topk, signal) => {
    const values = new Map<string, JsonValue>([
      ["$query", query],
      ["$topk", topk],
    ]);
    const address = url.replace(/\$(query|topk)\b/g, (name) => encodeURIComponent(String(values.get(name))));
    const posted = body && { method: "POST", body: JSON.stringify(filled(body, values)) };
    const response = await fetch(address, {
      ...posted,
      headers: {
        accept: "application/json",
        ...(body && { "content-type": "application/json" }),
        ...keyOf(key),
      },
      signal,
    });
    if (!response.ok)
      throw new Error(`${host} answered ${response.status}: ${(await response.text()).slice(0, 200)}`);
    const list = at(await response.json(), answer.passages);
    if (!Array.isArray(list)) return []; // Serper leaves out the list if it finds nothing
    return list.slice(0, topk).map((one, index) => passageOf(one, index, answer, host));
  };
}

function passageOf(one: unknown, index: number, { text, title, id }: WebApi["answer"], host: string): Found {
  const said = at(one, text);
  if (typeof said !== "string") throw new Error(`${host} answered a passage without “${text}”`);
  return {
    id: String((id && at(one, id)) ?? index),
    title: String((title && at(one, title)) ?? ""),
    text: said,
    score: -index,
  };
}

function keyOf(key: WebApi["key"]): Record<string, string> {
  if (key === undefined) return {};
  const value = process.env[key.variable];
  if (!value) throw new Error(`the worker has no environment variable ${key.variable}`);
  return key.header === undefined ? { authorization: `Bearer ${value}` } : { [key.header]: value };
}

function filled(value: JsonValue, values: ReadonlyMap<string, JsonValue>): JsonValue {
  if (typeof value === "string") return values.get(value) ?? value;
  if (Array.isArray(value)) return value.map((one) => filled(one, values));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, values)]));
}

/** The value at keys separated by dots. */
function at(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((within, key) => Object(within)[key], value);
}
