import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../src/control/temporal/free-port.ts";

const servers = join(import.meta.dirname, "..", "..", "node_modules", "@modelcontextprotocol");

/** The reference servers of the Model Context Protocol, as they are published. */
export const everything = join(servers, "server-everything", "dist", "index.js");
export const filesystem = join(servers, "server-filesystem", "dist", "index.js");

/** A configuration of tool-mcp that starts the server `everything`. */
export const byStdio = { command: process.execPath, args: [everything, "stdio"] };

/** Starts the server `everything` on a port of this machine; its URL. If another program takes the port first, it tries again. */
export async function everythingByHttp(
  kind: "streamableHttp" | "sse",
): Promise<{ url: string; child: ChildProcess }> {
  let written = "";
  for (let tries = 0; tries < 3; tries++) {
    const port = await freePort(0);
    const env = { ...process.env, PORT: String(port) };
    const child = spawn(process.execPath, [everything, kind], { env, stdio: ["ignore", "ignore", "pipe"] });
    const ended = once(child, "exit").then(() => false);
    const isReady = new Promise<boolean>((resolve) => {
      child.stderr?.on("data", (chunk) => {
        written += chunk;
        if (/(listening|running) on port/i.test(written)) resolve(true);
      });
    });
    // A server says the same before it ends because the port is taken.
    const isUp = (await Promise.race([isReady, ended])) && (await Promise.race([sleep(500, true), ended]));
    if (isUp) return { url: `http://127.0.0.1:${port}/${kind === "sse" ? "sse" : "mcp"}`, child };
  }
  throw new Error(written);
}

/** What a server of `httpServer` is asked, and where it answers. */
export interface AskedByHttp {
  id: number;
  method: string;
  params: { name?: string; arguments?: Record<string, unknown>; cursor?: string };
  request: IncomingMessage;
  response: ServerResponse;
  /** Answers by JSON, and nothing more. */
  say(result: object): void;
}

/**
 * A server that speaks streamable HTTP in a few lines, for what no server of the SDK does; `answers` has what it does for each method. It has a
 * tool `it`, unless it lists its tools itself, and answers GET by "not found" unless it does so itself.
 */
export async function httpServer(
  answers: Readonly<Record<string, (asked: AskedByHttp) => void>>,
): Promise<{ url: string; server: Server }> {
  const usual: typeof answers = {
    initialize: ({ params, say }) =>
      say({
        protocolVersion: Object(params).protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "plain", version: "1" },
      }),
    "tools/list": ({ say }) => say({ tools: [{ name: "it", inputSchema: { type: "object" } }] }),
    GET: ({ response }) => response.writeHead(405).end(),
    ...answers,
  };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { id = 0, method, params = {} } = body === "" ? { method: request.method } : JSON.parse(body);
    const say = (result: object) =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    const answer = usual[method];
    if (answer === undefined) response.writeHead(202).end();
    else answer({ id, method, params, request, response, say });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/mcp`, server };
}
