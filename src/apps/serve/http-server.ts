import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { defined } from "../../base/records/defined.ts";
import { checkToken } from "../../chat/openai/access-token.ts";
import { checkOrigin } from "../../chat/openai/check-origin.ts";
import { HttpProblem } from "../../chat/openai/http-problem.ts";
import { listen } from "../../chat/openai/listen.ts";
import { readJson } from "../../chat/openai/read-json.ts";
import { targetOf } from "../../chat/openai/request-target.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { Mcp } from "./mcp.ts";
import type { ServedTools } from "./served-tools.ts";
import { verlTool } from "./verl-tool.ts";

interface Options {
  host: string;
  /** 0: any that is free. */
  port: number;
  /** Requests at once. */
  limit: number;
  /** What requests have to show (`checkToken`); absent: nothing. */
  token?: string | undefined;
  log: (text: string) => void;
}

/** How long a request may take to come, ms: a body that dribbles in holds its place no longer. */
const patience = 60_000;

/** Tools behind HTTP: verl-tool's `/get_observation` and `/health`, and MCP at `/mcp`. Throws PORT_UNUSABLE. */
export async function openHttpServer(
  tools: ServedTools,
  mcp: Mcp | undefined,
  { host, port, limit, token, log }: Options,
): Promise<{ url: string; close(): Promise<void> }> {
  const verl = verlTool(tools);
  const began = performance.now();
  let underWay = 0;

  const health = (): JsonObject => ({
    status: "healthy",
    concurrent_requests: underWay,
    thread_pool_size: tools.functions.length,
    active_tasks: tools.count(),
    max_concurrent: limit,
    tools: [...tools.functions.map(({ name }) => name), "finish"],
    uptime_seconds: (performance.now() - began) / 1000,
  });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    checkOrigin(request, host);
    if (token !== undefined) checkToken(request, token);
    const { pathname } = targetOf(request);
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
  const url = await listen(server, host, port);
  return {
    url,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function allow({ method = "" }: IncomingMessage, methods: string[]): void {
  if (!methods.includes(method)) throw new HttpProblem(405, `${method} is not for this; ${methods[0]} is`);
}

function answer(response: ServerResponse, status: number, body: JsonObject): void {
  const text = JSON.stringify(body);
  response.writeHead(
    status,
    defined<OutgoingHttpHeaders>({
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      connection: status === 413 ? "close" : undefined,
      "retry-after": status === 429 ? "1" : undefined,
    }),
  );
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

function webRequest(request: IncomingMessage, body: unknown): Request {
  const { method = "GET", headers } = request;
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value] as [string, string]],
  );
  return new Request(
    targetOf(request),
    defined({
      method,
      headers: given,
      body: body === undefined ? undefined : JSON.stringify(body),
    }),
  );
}

async function relay(from: Response, to: ServerResponse): Promise<void> {
  to.writeHead(from.status, Object.fromEntries(from.headers));
  if (from.body === null) return void to.end();
  await pipeline(Readable.fromWeb(from.body), to);
}
