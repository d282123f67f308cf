import { ErrorCode, McpError, type Tool } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject, ToldFunction, ToolPlugin, ToolResponse } from "everturn/plugin";
import { answerOf } from "./answer.ts";
import { openServer, type Server } from "./server.ts";
import { type Settings, settingsOf } from "./settings.ts";

/** A trajectory's own server, or its part in a shared one. */
interface Instance {
  settings: Settings;
  server(): Promise<Server>;
  close(): Promise<void>;
  /** The calls to repeat on a new server. */
  calls: Request[];
}

interface Request {
  name: string;
  arguments: JsonObject;
}

/** Shared servers by configuration, so that all trajectories of a worker find theirs. */
const shared = new Map<string, Promise<Server>>();

/** Offers the tools of an MCP server as functions. */
const mcp: ToolPlugin<Instance> = {
  async functions(config) {
    const server = await openServer(settingsOf(config));
    try {
      return Object.fromEntries([...server.tools].map(([name, tool]) => [name, functionOf(tool)]));
    } finally {
      await server.close();
    }
  },

  create: ({ config, environment }) => open(config, environment),

  async execute(given, { function: name, signal }, instance) {
    const { settings, calls } = instance;
    const server = await instance.server();
    const answer = await answered(server, name, given, signal);
    if (settings.recovery === "replay") calls.push({ name, arguments: given });
    return answer;
  },

  release: (instance) => instance.close(),

  snapshot({ settings, calls }) {
    if (!settings.shared && settings.recovery === "fail") return undefined;
    return Buffer.from(JSON.stringify(calls));
  },

  async restore(snapshot, { config, environment, signal }) {
    const instance = await open(config, environment);
    const calls: Request[] = JSON.parse(Buffer.from(snapshot).toString());
    try {
      const server = await instance.server();
      for (const call of calls) await answered(server, call.name, call.arguments, signal);
    } catch (error) {
      await instance.close();
      throw error;
    }
    instance.calls.push(...calls);
    return instance;
  },

  async probe(config) {
    const settings = settingsOf(config);
    const server = await openServer(settings);
    await server.close();
  },
};

export default mcp;

function functionOf({ name, title, description, inputSchema }: Tool): ToldFunction {
  const { $schema: _, ...parameters }: JsonObject = JSON.parse(JSON.stringify(inputSchema));
  return { description: description || title || name, parameters };
}

async function open(config: JsonObject, environment: Record<string, string>): Promise<Instance> {
  const settings = settingsOf(config);
  const calls: Request[] = [];
  if (settings.shared) {
    const server = () => sharedServer(JSON.stringify(config), settings);
    await server();
    return { settings, server, close: async () => {}, calls };
  }
  const own = await openServer(settings, environment);
  return { settings, server: async () => own, close: () => own.close(), calls };
}

async function sharedServer(key: string, settings: Settings): Promise<Server> {
  const known = shared.get(key);
  if (known !== undefined && !(await known).isGone()) return known;
  if (shared.get(key) !== known) return sharedServer(key, settings); // another call has opened it in the meantime
  const opening = openServer(settings);
  shared.set(key, opening);
  opening.catch(() => {
    if (shared.get(key) === opening) shared.delete(key);
  });
  return opening;
}

/** Arguments that the server rejects are the model's mistake. All other protocol errors are the server's. */
async function answered(
  server: Server,
  name: string,
  given: JsonObject,
  signal: AbortSignal,
): Promise<ToolResponse> {
  try {
    return answerOf(await server.call(name, given, signal));
  } catch (error) {
    if (error instanceof McpError && error.code === ErrorCode.InvalidParams)
      return { text: `error: ${error.message}`, error: true };
    throw error;
  }
}
