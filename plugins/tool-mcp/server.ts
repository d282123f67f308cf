import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { CallToolResult, CompatibilityCallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import {
  CompatibilityCallToolResultSchema,
  ListToolsResultSchema,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";
import { answeringFetch } from "./answering-fetch.ts";
import { checkedOutput, OutputBroken } from "./checked-output.ts";
import type { Settings } from "./settings.ts";

/** A connected server. */
export interface Server {
  /** Its tools by the names that a policy uses. */
  tools: ReadonlyMap<string, Tool>;
  /** Calls a tool. Throws McpError and the errors of the transport. */
  call(
    name: string,
    given: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<CallToolResult | CompatibilityCallToolResult>;
  /** Whether the server or its connection has ended. */
  isGone(): boolean;
  close(): Promise<void>;
}

/** No limit here, because the worker limits each call by the tool's time-out. */
const noLimit = 2 ** 31 - 1;

/** The number of characters of a server's standard error that are shown when it ends. */
const toldCharacters = 1000;

/** Starts a server, or connects to one. `environment` contains the marks for an instance's processes. */
export async function openServer(
  settings: Settings,
  environment: Record<string, string> = {},
): Promise<Server> {
  const { command } = settings;
  return command === undefined ? connectByHttp(settings) : startServer({ ...settings, command }, environment);
}

async function startServer(
  { command, args, folder, environment, secrets }: Settings & { command: string },
  marks: Record<string, string>,
): Promise<Server> {
  const { EVERTURN_THREAD: thread } = process.env; // by it, left-over processes are found when the plugin's thread ends
  const transport = new StdioClientTransport({
    command,
    args,
    ...(folder === undefined ? {} : { cwd: folder }),
    env: {
      ...environment,
      ...Object.fromEntries(secrets.map((name) => [name, fromEnvironment(name)])),
      ...(thread === undefined ? {} : { EVERTURN_THREAD: thread }),
      ...marks,
    },
    stderr: "pipe",
  });
  let written = "";
  transport.stderr?.on("data", (text) => {
    written = `${written}${text}`.slice(-toldCharacters);
  });
  try {
    return await connected(transport, { said: () => written.trim() });
  } catch (error) {
    throw new Error(`${command}: ${told(error)}${written.trim() && `: ${written.trim()}`}`, { cause: error });
  }
}

async function connectByHttp({ url = "", headers, secretHeaders }: Settings): Promise<Server> {
  const secret = Object.entries(secretHeaders).map(([header, name]) => [header, fromEnvironment(name)]);
  const requestInit = { headers: { ...headers, ...Object.fromEntries(secret) } };
  const address = new URL(url);
  const transport = new StreamableHTTPClientTransport(address, { requestInit, fetch: answeringFetch() });
  try {
    const server = await connected(transport);
    return {
      ...server,
      close: async () => {
        await transport.terminateSession().catch(() => {}); // the server is gone or keeps no sessions
        await server.close();
      },
    };
  } catch (error) {
    // Servers of the revision 2024-11-05 answer the newer transport's first request with one of these codes.
    if (![400, 404, 405].includes(Number(Object(error).code)))
      throw new Error(`${url}: ${told(error)}`, { cause: error });
    const older = new SSEClientTransport(address, { requestInit });
    return connected(older, { breaksByErrors: true }).catch((second: unknown) => {
      throw new Error(`${url}: ${told(error)}; by SSE: ${told(second)}`, { cause: second });
    });
  }
}

interface Connection {
  /** The server's output other than its answers. */
  said?: () => string;
  /**
   * Whether an error of the transport ends the connection: it may mean that an answer is lost, and an
   * unreadable line is an error.
   */
  breaksByErrors?: boolean;
}

async function connected(
  transport: Transport,
  { said = () => "", breaksByErrors = false }: Connection = {},
): Promise<Server> {
  const client = new Client({ name: "everturn", version: "0.1.0" }, { capabilities: {} });
  let isGone = false;
  client.onclose = () => {
    isGone = true;
  };
  let broken: Error | undefined;
  client.onerror = (error) => {
    if (!breaksByErrors) return; // without an answer in a readable line, the call ends by its time-out
    broken ??= error;
    void client.close();
  };
  try {
    await client.connect(transport);
    const tools = namedTools(await listTools(client));
    return {
      tools,
      call: async (name, given, signal) => {
        const tool = tools.get(name);
        if (tool === undefined) throw new Error(`the server has no tool ${name} any more`);
        const request = { name: tool.name, arguments: given };
        const options = { timeout: noLimit, ...(signal === undefined ? {} : { signal }) };
        const { name: server = "" } = client.getServerVersion() ?? {};
        try {
          // unlike this request, callTool() treats a failing tool's message as its output
          const call = { method: "tools/call" as const, params: request };
          const result = await client.request(call, CompatibilityCallToolResultSchema, options);
          return checkedOutput(result, { tool, server });
        } catch (error) {
          if (broken !== undefined)
            throw new Error(`the stream of events broke: ${told(broken)}`, { cause: error });
          if (isGone) throw new Error(`the server ended${said() && `: ${said()}`}`, { cause: error });
          if (signal?.aborted || error instanceof McpError || error instanceof OutputBroken) throw error;
          isGone = true; // after a lost session or an unknown form of answer, the next call opens a new connection
          void client.close();
          throw new Error(told(error), { cause: error });
        }
      },
      isGone: () => isGone,
      close: () => client.close(),
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** Some servers end their pages with a cursor that is null or empty. */
const toolsPage = ListToolsResultSchema.extend({
  nextCursor: ListToolsResultSchema.shape.nextCursor.nullable(),
});

/** The maximum number of pages of a list. */
const mostPages = 200;

/**
 * Lists all tools, each once. An empty or repeated cursor ends the list. listTools() is not used because it
 * rejects schemas that it can't read.
 */
async function listTools(client: Client): Promise<Tool[]> {
  const tools = new Map<string, Tool>();
  const cursors = new Set<string>();
  for (let cursor = ""; !cursors.has(cursor); ) {
    cursors.add(cursor);
    if (cursors.size > mostPages)
      throw new Error(`the server lists its tools in more than ${mostPages} pages`);
    const params = cursor === "" ? {} : { cursor };
    const page = await client.request({ method: "tools/list", params }, toolsPage);
    for (const tool of page.tools) if (!tools.has(tool.name)) tools.set(tool.name, tool);
    cursor = page.nextCursor ?? "";
  }
  return [...tools.values()].filter(({ execution }) => execution?.taskSupport !== "required"); // tools that require tasks answer with a promise
}

/**
 * Names for the policy. Characters that calls can't contain become _, and a number distinguishes names that
 * become equal.
 */
export function namedTools(tools: readonly Tool[]): Map<string, Tool> {
  const named = new Map<string, Tool>();
  for (const tool of tools) {
    const plain = tool.name.replace(/[^A-Za-z0-9_-]/g, "_").replace(/^(?![A-Za-z_])/, "_");
    let name = plain.slice(0, 64);
    for (let number = 2; named.has(name); number++) name = `${plain.slice(0, 60)}_${number}`;
    named.set(name, tool);
  }
  return named;
}

function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (value !== undefined) return value;
  throw new Error(`the environment variable ${name} is not set, which the server is to get`);
}

function told(error: unknown): string {
  const { message, cause } = Object(error);
  const reason = Object(cause).message;
  return `${String(message ?? error)}${reason === undefined ? "" : ` (${reason})`}`;
}
