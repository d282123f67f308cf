import { type Context, Hono } from "hono";
import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { checkToken } from "../../chat/openai/access-token.ts";
import { checkOrigin } from "../../chat/openai/check-origin.ts";
import { HttpProblem } from "../../chat/openai/http-problem.ts";
import { readJson } from "../../chat/openai/read-json.ts";
import { type NodeEnv, serveDetailed } from "../../chat/openai/serve-app.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { Mcp } from "./mcp.ts";
import type { ServedTools } from "./served-tools.ts";
import { verlTool } from "./verl-tool.ts";

interface Options {
  host: string;
  /** 0: any free port. */
  port: number;
  /** The most concurrent requests. */
  limit: number;
  /** The token that requests must have (`checkToken`); absent: none. */
  token?: string | undefined;
  log: (text: string) => void;
}

/** Serves tools over HTTP: verl-tool's `/get_observation` and `/health`, and MCP at `/mcp`. Throws PORT_UNUSABLE. */
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

  const app = new Hono<NodeEnv>();
  app.get("/health", (c) => c.json(health()));
  app.post("/get_observation", async (c) => {
    const { body, delivered } = await verl.observe(await readJson(c.env.incoming));
    c.env.outgoing.once("finish", delivered);
    return c.json(body);
  });
  app.on(["GET", "POST", "DELETE"], "/mcp", async (c) => {
    if (mcp === undefined)
      throw new HttpProblem(501, "MCP needs its SDK: npm install @modelcontextprotocol/server");
    const body = c.req.method === "POST" ? await readJson(c.env.incoming) : undefined;
    return mcp.fetch(c.req.raw, body);
  });
  app.all("/health", (c) => refuseMethod(c, "GET"));
  app.all("/get_observation", (c) => refuseMethod(c, "POST"));
  app.all("/mcp", (c) => refuseMethod(c, "GET"));
  app.notFound((c) => {
    throw new HttpProblem(404, `there is no ${c.req.path}, but /get_observation, /health and /mcp`);
  });
  return serveDetailed(app, {
    host,
    port,
    check: (request, response) => {
      underWay++;
      response.once("close", () => {
        underWay--;
      });
      if (underWay > limit) throw new HttpProblem(429, `more than ${limit} requests are under way`);
      checkOrigin(request, host);
      if (token !== undefined) checkToken(request, token);
    },
    problemOf: (error) => problemOf(error, log),
  });
}

function refuseMethod({ req }: Context, instead: string): never {
  throw new HttpProblem(405, `${req.method} is not for this; ${instead} is`);
}

/** The error that clients receive. Unknown ones are logged. */
function problemOf(error: unknown, log: (text: string) => void): HttpProblem {
  if (error instanceof HttpProblem) return error;
  const code = isEverturnError(error) ? error.code : undefined;
  if (code === "TOO_MANY_TRAJECTORIES") return new HttpProblem(429, messageOf(error));
  if (code === "SERVER_ENDS") return new HttpProblem(503, messageOf(error));
  log(`a request failed: ${messageOf(error)}`);
  return new HttpProblem(500, "the server failed; its log explains why");
}
