import { isObject, type JsonObject, serverAddress } from "everturn/plugin";

/** The configuration, whose schema is in the manifest. */
export interface Settings {
  /** Of the server, without a slash at its end. */
  url: string;
  environment: string | undefined;
  split: string;
  limit: number | undefined;
  seeds: { first: number; count: number } | undefined;
  reset: JsonObject;
  instruction: string;
  text: string | undefined;
  exceptions: "failure" | "observation";
}

/** Reads the configuration, which matches its schema, and starts the server if that is Everturn's part. */
export async function settingsOf(config: JsonObject, signal?: AbortSignal): Promise<Settings> {
  const { environment, limit, seeds, reset, text } = config;
  return {
    url: await serverAddress(config, { ready: "/health", signal }),
    environment: typeof environment === "string" ? environment : undefined,
    split: String(config.split),
    limit: typeof limit === "number" ? limit : undefined,
    seeds: isObject(seeds) ? { first: Number(seeds.first ?? 0), count: Number(seeds.count) } : undefined,
    reset: isObject(reset) ? reset : {},
    instruction: String(config.instruction),
    text: typeof text === "string" ? text : undefined,
    exceptions: config.exceptions === "observation" ? "observation" : "failure",
  };
}
