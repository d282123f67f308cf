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

/** A server that is connected. */
export interface Server {
  /** Its tools by the names that a policy can call them by. */
  tools: ReadonlyMap<string, Tool>;
  /** Throws McpError, and what its transport fails with. */
  call(
    name: string,
    given: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<CallToolResult | CompatibilityCallToolResult>;
  /** Whether it has ended, or its connection has. */
  isGone(): boolean;
  close(): Promise<void>;
}

/** The worker bounds each call itself, by the tool's time-out. */
const noLimit = 2 ** 31 - 1;

/** What a server wrote to its standard error is told where it ends: so many characters. */
const toldCharacters = 1000;

/** Starts a server, or connects to one; `environment`: what the processes of an instance carry. */
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
  const { EVERTURN_THREAD: thread } = process.env; // by it what is left is found when the plugin's thread ends
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
        await transport.terminateSession().catch(() => {}); // it is gone, or keeps no sessions
        await server.close();
      },
    };
  } catch (error) {
    // What servers of the revision 2024-11-05 say to the newer transport's first request.
    if (![400, 404, 405].includes(Number(Object(error).code)))
      throw new Error(`${url}: ${told(error)}`, { cause: error });
    const older = new SSEClientTransport(address, { requestInit });
    return connected(older, { breaksByErrors: true }).catch((second: unknown) => {
      throw new Error(`${url}: ${told(error)}; by SSE: ${told(second)}`, { cause: second });
    });
  }
}

interface Connection {
  /** What the server wrote beside its answers. */
  said?: () => string;
  /** What its transport calls an error may be an answer's end, and a line that is no message is one. */
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
    if (!breaksByErrors) return; // a line that is no message is no answer either: the call has its time-out
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
          // not callTool(), which takes what a failing tool says for its output
          const call = { method: "tools/call" as const, params: request };
          const result = await client.request(call, CompatibilityCallToolResultSchema, options);
          return checkedOutput(result, { tool, server });
        } catch (error) {
          if (broken !== undefined)
            throw new Error(`the stream of events broke: ${told(broken)}`, { cause: error });
          if (isGone) throw new Error(`the server ended${said() && `: ${said()}`}`, { cause: error });
          if (signal?.aborted || error instanceof McpError || error instanceof OutputBroken) throw error;
          isGone = true; // a session that is no more, an answer of no known form: the next call has a new connection
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

/** Some servers end their pages by a cursor that is null or empty. */
const toolsPage = ListToolsResultSchema.extend({
  nextCursor: ListToolsResultSchema.shape.nextCursor.nullable(),
});

/** Lists are not read any further. */
const mostPages = 200;

/** All tools, each once: a cursor that is empty, or was there before, ends the list. Not listTools(), which refuses schemas that it can't read. */
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
  return [...tools.values()].filter(({ execution }) => execution?.taskSupport !== "required"); // which answer a call with a promise
}

/** Names with signs that a policy's calls can't have get _ in their place; two that are the same then, a number. */
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
