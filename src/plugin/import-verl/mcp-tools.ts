import { defined } from "../../base/records/defined.ts";
import type { JsonObject } from "../../contracts/json.ts";
import { isObject } from "../../contracts/json.ts";
import { type PipelineTool, positive } from "./known-classes.ts";
import type { McpServers, VerlTool } from "./tool-file.ts";
import { Untranslatable } from "./untranslatable.ts";

/**
 * Converts each server of an MCP entry of verl's to a tool of its own. Secrets become names of environment
 * variables.
 */
export function mcpTools({ class_name, config, mcp }: VerlTool, servers: McpServers): PipelineTool[] {
  const timeout = positive(config, "timeout");
  const rate = positive(config, "rate_limit");
  const selected = mcp?.tool_selected_list ?? [];
  const entries = Object.entries(servers);
  return entries.map(([server, settings]) => {
    const name = nameOf(server);
    const { notes, ...connection } = connectionOf(name, settings);
    const isOnly = entries.length === 1;
    return {
      use: defined({
        plugin: "tool-mcp",
        name,
        functions: selected.length > 0 && isOnly ? selected : undefined,
        config: { ...connection, shared: true },
        timeout: timeout !== undefined ? `${timeout}s` : undefined,
        rate: rate !== undefined ? `${rate}/s` : undefined,
      }),
      notes: [
        ...notes,
        ...(selected.length > 0 && !isOnly
          ? [
              `Of ${selected.join(", ")}, name those of this server under functions, because the file does not assign them to servers.`,
            ]
          : []),
        `What ${class_name} makes of an answer is not taken over: the policy reads the server's text. All trajectories share a session: verl opens one for each call.`,
      ],
    };
  });
}

function connectionOf(name: string, settings: JsonObject): JsonObject & { notes: string[] } {
  const { url, command, args, cwd, headers, env, auth_token } = settings;
  const variable = (key: string) => `${name}_${key}`.toUpperCase().replaceAll("-", "_");
  if (typeof url === "string") {
    const names = new Set([
      ...(auth_token === undefined ? [] : ["Authorization"]),
      ...(isObject(headers) ? Object.keys(headers) : []),
    ]);
    const secretHeaders = Object.fromEntries([...names].map((header) => [header, variable(header)]));
    return defined({
      url,
      secretHeaders: names.size > 0 ? secretHeaders : undefined,
      notes: Object.entries(secretHeaders).map(
        ([header, one]) =>
          `Set the environment variable ${one} to the header ${header}${header === "Authorization" && auth_token !== undefined ? ": Bearer and the auth_token" : ""}.`,
      ),
    });
  }
  if (typeof command !== "string")
    throw new Untranslatable("/mcp", "names a server without url or command", "Give it one.");
  const secrets = isObject(env) ? Object.keys(env) : [];
  return defined({
    command,
    args: Array.isArray(args) ? args : undefined,
    folder: typeof cwd === "string" ? cwd : undefined,
    secrets: secrets.length > 0 ? secrets : undefined,
    notes: secrets.length > 0 ? [`Set the environment variables ${secrets.join(", ")}.`] : [],
  });
}

/** A server's name in a form that a tool's name may have. */
function nameOf(server: string): string {
  const name = server.replaceAll(/[^A-Za-z0-9_-]+/g, "_").slice(0, 60);
  return /^[A-Za-z_]/.test(name) ? name : `_${name}`;
}
