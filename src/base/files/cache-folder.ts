import { homedir } from "node:os";
import { join } from "node:path";

/** Where Everturn keeps downloads and measurements of this machine: `$XDG_CACHE_HOME/everturn`, else `~/.cache/everturn`. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "everturn");
}
