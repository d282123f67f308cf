import type { JsonObject, JsonValue } from "everturn/plugin";

/** The configuration: recorded pages in `archive`, or live pages of `hosts`. */
export interface Settings {
  /** The path of a HAR file. */
  archive: string | undefined;
  /** The hosts that may be contacted. */
  hosts: string[];
  /** Whether they may have addresses in private networks. */
  private: boolean;
  executable: string | undefined;
  /** Seconds per call. */
  time: number;
  /** Characters per part of the view. */
  characters: number;
  /** The maximum number of open pages per trajectory. */
  pages: number;
  /** MiB of a page's JavaScript heap. */
  memory: number;
}

/**
 * Reads the configuration, which matches its schema. Throws if it has neither an archive nor hosts, or both.
 */
export function settingsOf(config: JsonObject): Settings {
  const { archive, executable } = config;
  const hosts = texts(config.hosts);
  if ((typeof archive === "string") === hosts.length > 0)
    throw new Error(
      "tool-browser needs either “archive”, a HAR file of recorded pages, or “hosts” that it may ask",
    );
  return {
    archive: typeof archive === "string" ? archive : undefined,
    hosts,
    private: config.private === true,
    executable: typeof executable === "string" ? executable : undefined,
    time: Number(config.time ?? 20),
    characters: Number(config.characters ?? 4000),
    pages: Number(config.pages ?? 4),
    memory: Number(config.memory ?? 512),
  };
}

function texts(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
