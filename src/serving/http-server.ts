import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { JsonObject } from "../contracts/json.ts";
import { EverturnError, isEverturnError } from "../errors/everturn-error.ts";
import { messageOf } from "../errors/message-of.ts";
import { HttpProblem } from "./http-problem.ts";
import type { Mcp } from "./mcp.ts";
import type { ServedTools } from "./served-tools.ts";
import { verlTool } from "./verl-tool.ts";

interface Options {
  host: string;
  /** 0: any that is free. */
  port: number;
  /** Requests at once. */
  limit: number;
  log: (text: string) => void;
}

/** A body is not read any further. */
const longest = 32 * 1024 * 1024;

/** How long a request may take to come, ms: a body that dribbles in holds its place no longer. */
const patience = 60_000;

/** Tools behind HTTP: verl-tool's `/get_observation` and `/health`, and MCP at `/mcp`. Throws PORT_UNUSABLE. */
export async function openHttpServer(
  tools: ServedTools,
  mcp: Mcp | undefined,
  { host, port, limit, log }: Options,
): Promise<{ url: string; close(): Promise<void> }> {
  const verl = verlTool(tools);
  const began = performance.now();
  let underWay = 0;

  const health = (): JsonObject => ({
    ...{ status: "healthy", concurrent_requests: underWay, thread_pool_size: tools.functions.length },
    ...{ active_tasks: tools.count(), max_concurrent: limit },
    tools: [...tools.functions.map(({ name }) => name), "finish"],
    uptime_seconds: (performance.now() - began) / 1000,
  });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    checkOrigin(request, host);
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    switch (pathname) {
      case "/health":
        allow(request, ["GET", "HEAD"]);
        return answer(response, 200, health());
      case "/get_observation": {
        allow(request, ["POST"]);
        const { body, delivered } = await verl.observe(await readJson(request));
        response.once("finish", delivered);
        return answer(response, 200, body);
      }
      case "/mcp": {
        if (mcp === undefined)
          throw new HttpProblem(501, "MCP needs its SDK: npm install @modelcontextprotocol/server");
        allow(request, ["GET", "POST", "DELETE"]);
        const body = request.method === "POST" ? await readJson(request) : undefined;
        return await relay(await mcp.fetch(webRequest(request, body), body), response);
      }
      default:
        throw new HttpProblem(404, `there is no ${pathname}, but /get_observation, /health and /mcp`);
    }
  }

  const server = createServer({ requestTimeout: patience }, async (request, response) => {
    underWay++;
    response.once("close", () => {
      underWay--;
    });
    try {
      if (underWay > limit) throw new HttpProblem(429, `more than ${limit} requests are under way`);
      await respond(request, response);
    } catch (error) {
      fail(error, response, log);
    }
  });
  server.on("clientError", (_, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
  });
  server.keepAliveTimeout = 75_000;
  server.listen(port, host, 4096);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new EverturnError("PORT_UNUSABLE", { host, port, reason: messageOf(error) }, { cause: error });
  }
  const address = server.address();
  const taken = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${taken}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A page in a browser may ask any server of its machine; it is known by its origin, and by a name that resolves to here. */
function checkOrigin({ headers }: IncomingMessage, bound: string): void {
  const { origin, host } = headers;
  if (origin !== undefined && !isLoopback(hostOf(origin)))
    throw new HttpProblem(403, `pages of ${origin} may not ask this server`);
  if (isLoopback(bound) && host !== undefined && !isLoopback(hostOf(`http://${host}`)))
    throw new HttpProblem(403, `this server is not ${host}: it listens on ${bound} alone`);
}

function hostOf(url: string): string {
  try {
    return new URL(url).hostname.replace(/^\[|\]$/g, "");
  } catch {
    return "";
  }
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d+){3}$/.test(host);
}

function allow({ method = "" }: IncomingMessage, methods: string[]): void {
  if (!methods.includes(method)) throw new HttpProblem(405, `${method} is not for this; ${methods[0]} is`);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const tooLong = () => new HttpProblem(413, `the request is longer than ${longest} bytes`);
  if (Number(request.headers["content-length"] ?? 0) > longest) throw tooLong();
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > longest) throw tooLong();
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString("utf8"));
  } catch (error) {
    throw new HttpProblem(400, `the request is not JSON: ${messageOf(error)}`);
  }
}

function answer(response: ServerResponse, status: number, body: JsonObject): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...(status === 413 ? { connection: "close" } : {}),
    ...(status === 429 ? { "retry-after": "1" } : {}),
  });
  response.end(text);
}

function fail(error: unknown, response: ServerResponse, log: (text: string) => void): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const known = problemOf(error);
  if (known === undefined) log(`a request failed: ${messageOf(error)}`);
  const { status, message } = known ?? new HttpProblem(500, "the server failed; its log says why");
  answer(response, status, { detail: message });
}

function problemOf(error: unknown): HttpProblem | undefined {
  if (error instanceof HttpProblem) return error;
  if (!isEverturnError(error)) return undefined;
  if (error.code === "TOO_MANY_TRAJECTORIES") return new HttpProblem(429, error.message);
  return error.code === "SERVER_ENDS" ? new HttpProblem(503, error.message) : undefined;
}

function webRequest({ method = "GET", url = "/", headers }: IncomingMessage, body: unknown): Request {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value] as [string, string]],
  );
  return new Request(new URL(url, "http://localhost"), {
    ...{ method, headers: given },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function relay(from: Response, to: ServerResponse): Promise<void> {
  to.writeHead(from.status, Object.fromEntries(from.headers));
  if (from.body === null) return void to.end();
  await pipeline(Readable.fromWeb(from.body), to);
}
