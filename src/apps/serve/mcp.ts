import { randomUUID } from "node:crypto";
import type { CallToolResult, McpRequestContext, Server, Tool } from "@modelcontextprotocol/server";
import packageJson from "../../../package.json" with { type: "json" };
import { deepest, isNestedTooDeep } from "../../base/json/nesting.ts";
import { defined } from "../../base/records/defined.ts";
import type { ServedAnswer, ServedTools } from "./served-tools.ts";

/** The header in which a client without sessions names the trajectory whose state a call uses. */
export const trajectoryHeader = "everturn-trajectory";

/** MCP through the official SDK. */
export interface Mcp {
  /** Over streamable HTTP: with sessions for revisions up to 2025-11-25, and without any since 2026-07-28. */
  fetch(request: Request, body: unknown): Promise<Response>;
  /** Over standard input and output, until the client closes them or `signal` aborts. */
  serveStdio(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

interface Options {
  /** The most concurrent sessions. Another one ends the least recently used. */
  limit: number;
  log: (text: string) => void;
}

type Sdk = Awaited<ReturnType<typeof loadSdk>>;

async function loadSdk() {
  return import("@modelcontextprotocol/server");
}

/** Loads the SDK; undefined if it is not installed. */
export async function openMcp(tools: ServedTools, options: Options): Promise<Mcp | undefined> {
  let sdk: Sdk;
  try {
    sdk = await loadSdk();
  } catch (error) {
    const isAbsent = Object(error).code === "ERR_MODULE_NOT_FOUND";
    if (isAbsent) return undefined;
    throw error;
  }
  return mcpOf(sdk, tools, options);
}

function mcpOf(sdk: Sdk, tools: ServedTools, { limit, log }: Options): Mcp {
  interface McpSession {
    server: Server;
    transport: InstanceType<Sdk["WebStandardStreamableHTTPServerTransport"]>;
    trajectory: string;
  }
  const sessions = new Map<string, McpSession>();

  /** A server whose calls belong to a trajectory. Without a name, each call has a trajectory of its own. */
  function serverOf(trajectory: string | undefined): Server {
    const server = new sdk.Server(
      { name: "everturn", version: packageJson.version },
      { capabilities: { tools: {} } },
    );
    server.onerror = (error) => log(`MCP: ${error.message}`);
    server.setRequestHandler("tools/list", () => ({ tools: tools.functions.map(toolOf) }));
    server.setRequestHandler("tools/call", async ({ params }) => {
      const own = trajectory ?? `mcp/call/${randomUUID()}`;
      const { name, arguments: given = {} } = params;
      if (isNestedTooDeep(given)) {
        const invalid = `the arguments are nested more than ${deepest} levels deep`;
        return resultOf({ text: `error: ${invalid}`, invalid, done: false });
      }
      try {
        const asked = { function: name, arguments: JSON.parse(JSON.stringify(given)) };
        const key = `${own}/${randomUUID()}`;
        return resultOf(await tools.call({ trajectory: own, ...asked, task: {}, key }));
      } finally {
        if (trajectory === undefined) await tools.release(own);
      }
    });
    return server;
  }

  async function openMcpSession(): Promise<McpSession> {
    const [longestUnused] = sessions.values();
    if (sessions.size >= limit) await longestUnused?.transport.close();
    const id = randomUUID();
    const trajectory = `mcp/${id}`;
    const server = serverOf(trajectory);
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      enableJsonResponse: true,
    });
    const session = { server, transport, trajectory };
    await server.connect(transport);
    transport.onclose = () => {
      sessions.delete(id);
      void tools.release(trajectory);
    };
    sessions.set(id, session);
    return session;
  }

  const stateless = sdk.createMcpHandler(
    ({ requestInfo }: McpRequestContext) => {
      const named = requestInfo?.headers.get(trajectoryHeader);
      return serverOf(named ? `mcp/named/${named}` : undefined);
    },
    { legacy: "stateless", onerror: (error) => log(`MCP: ${error.message}`) },
  );

  return {
    fetch: async (request, body) => {
      const id = request.headers.get("mcp-session-id");
      const known = id === null ? undefined : sessions.get(id);
      const options = body === undefined ? {} : { parsedBody: body };
      if (id !== null && known !== undefined) {
        sessions.delete(id);
        sessions.set(id, known); // moves the latest one to the end
        return known.transport.handleRequest(request, options);
      }
      if (id !== null) return refusal(404, "There is no such session. Begin a new one with `initialize`.");
      if (!isInitialize(body)) return stateless.fetch(request, options);
      const { transport } = await openMcpSession();
      return transport.handleRequest(request, options);
    },
    serveStdio: async (signal) => {
      const { serveStdio, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
      const trajectory = `mcp/stdio/${randomUUID()}`;
      const transport = new StdioServerTransport();
      const handle = serveStdio(() => serverOf(trajectory), {
        transport,
        onerror: (error) => log(`MCP: ${error.message}`),
      });
      await new Promise<void>((resolve) => {
        process.stdin.once("end", resolve);
        process.stdin.once("close", resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
        if (signal.aborted) resolve();
      });
      await handle.close();
    },
    close: async () => {
      await Promise.allSettled([...sessions.values()].map(({ transport }) => transport.close()));
      await stateless.close();
    },
  };
}

function isInitialize(body: unknown): boolean {
  const messages = Array.isArray(body) ? body : [body];
  return messages.some((message) => Object(message).method === "initialize");
}

function refusal(status: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code: -32_000, message } }, { status });
}

function toolOf({ name, description, parameters }: ServedTools["functions"][number]): Tool {
  return { name, description, inputSchema: { ...parameters, type: "object" } };
}

/** A result. Mistakes of the model and failures of the tool have `isError`. */
function resultOf({ text, failed, invalid, error, media = [] }: ServedAnswer): CallToolResult {
  const said = failed === undefined ? text : `error: ${failed}`;
  const images = media.flatMap(({ frames }) =>
    frames.map(({ data, mediaType: mimeType }) => ({
      type: "image" as const,
      mimeType,
      data: Buffer.from(data).toString("base64"),
    })),
  );
  const isError = failed !== undefined || invalid !== undefined || error === true;
  return defined({
    content: [{ type: "text", text: said }, ...images],
    isError: isError ? true : undefined,
  });
}
