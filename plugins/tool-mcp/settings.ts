import type { JsonObject, JsonValue } from "everturn/plugin";

/** The settings of a server in the pipeline's configuration. */
export interface Settings {
  command: string | undefined;
  args: string[];
  folder: string | undefined;
  environment: Record<string, string>;
  secrets: string[];
  url: string | undefined;
  headers: Record<string, string>;
  secretHeaders: Record<string, string>;
  shared: boolean;
  recovery: "fresh" | "replay" | "fail";
}

/** Reads the configuration, which matches its schema. Throws if it names no server, or two. */
export function settingsOf({ command, folder, url, ...config }: JsonObject): Settings {
  if ((typeof command === "string") === (typeof url === "string"))
    throw new Error("tool-mcp needs either “command”, which starts a server, or “url”, a server's");
  const { args, environment, secrets, headers, secretHeaders, shared, recovery } = config;
  return {
    command: typeof command === "string" ? command : undefined,
    folder: typeof folder === "string" ? folder : undefined,
    url: typeof url === "string" ? url : undefined,
    args: texts(args),
    environment: textsByName(environment),
    secrets: texts(secrets),
    headers: textsByName(headers),
    secretHeaders: textsByName(secretHeaders),
    shared: shared === true,
    recovery: recovery === "fresh" || recovery === "replay" ? recovery : "fail",
  };
}

function texts(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function textsByName(value: JsonValue | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(Object(value)).map(([name, text]) => [name, String(text)]));
}
