import { isObject, type JsonObject } from "./json.ts";

/** The configuration, whose schema is in the manifest. */
export interface Settings {
  /** Without a slash at its end. */
  url: string;
  environment: string | undefined;
  split: string;
  limit: number | undefined;
  seeds: { first: number; count: number } | undefined;
  reset: JsonObject;
  instruction: string;
  text: string | undefined;
  success: number;
  exceptions: "failure" | "observation";
}

/** Reads the configuration, which matches its schema. */
export function settingsOf(config: JsonObject): Settings {
  const { environment, limit, seeds, reset, text } = config;
  return {
    url: String(config.url).replace(/\/+$/, ""),
    environment: typeof environment === "string" ? environment : undefined,
    split: String(config.split),
    limit: typeof limit === "number" ? limit : undefined,
    seeds: isObject(seeds) ? { first: Number(seeds.first ?? 0), count: Number(seeds.count) } : undefined,
    reset: isObject(reset) ? reset : {},
    instruction: String(config.instruction),
    text: typeof text === "string" ? text : undefined,
    success: Number(config.success),
    exceptions: config.exceptions === "observation" ? "observation" : "failure",
  };
}
