import type { JsonObject, JsonValue } from "everturn/plugin";

/** What a pipeline configures: recorded pages by `archive`, or live ones by `hosts`. */
export interface Settings {
  /** The path of a HAR file. */
  archive: string | undefined;
  /** Which hosts may be asked. */
  hosts: string[];
  /** Whether they may have addresses of private networks. */
  private: boolean;
  executable: string | undefined;
  /** A call's, s. */
  time: number;
  /** Of a part of the view, characters. */
  characters: number;
  /** Pages that a trajectory may have open. */
  pages: number;
  /** A page's JavaScript heap, MiB. */
  memory: number;
}

/** The configuration, which its schema has checked. Throws if it names neither pages nor hosts, or both. */
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
