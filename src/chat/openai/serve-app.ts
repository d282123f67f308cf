import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import type { Hono } from "hono";
import type { HttpProblem } from "./http-problem.ts";
import { listen } from "./listen.ts";
import { sendJson, statusHeaders } from "./send-json.ts";

/** The content of `c.env` in an app's handlers: Node's request and response. */
export interface NodeEnv {
  Bindings: HttpBindings;
}

/** How long a request may take to arrive, in ms, so that a slow body does not occupy its place any longer. */
const patience = 60_000;

interface Options {
  host: string;
  /** 0: any free port. */
  port: number;
  /** Sees each request before the app, with its target as it was sent. Returns false if it has answered the request itself. */
  admit(request: IncomingMessage, response: ServerResponse): boolean;
}

/** Serves a Hono app on a port. Throws PORT_UNUSABLE. */
export async function serveApp(
  app: Pick<Hono<NodeEnv>, "fetch">,
  { host, port, admit }: Options,
): Promise<{ url: string; server: Server }> {
  const answer = getRequestListener(app.fetch, { hostname: host, overrideGlobalObjects: false });
  const server = createServer({ requestTimeout: patience }, (request, response) => {
    if (admit(request, response)) void answer(request, response);
  });
  return { url: await listen(server, host, port), server };
}

/**
 * Serves an app that answers problems with `{"detail": message}`. `check` sees each request first, and throws what is
 * wrong with it. Throws PORT_UNUSABLE.
 */
export async function serveDetailed(
  app: Hono<NodeEnv>,
  options: Pick<Options, "host" | "port"> & {
    check(request: IncomingMessage, response: ServerResponse): void;
    problemOf(error: unknown): HttpProblem;
  },
): Promise<{ url: string; close(): Promise<void> }> {
  const { check, problemOf, ...place } = options;
  app.onError((error) => {
    const { status, message } = problemOf(error);
    return Response.json({ detail: message }, { status, headers: statusHeaders(status) });
  });
  const admit: Options["admit"] = (request, response) => {
    try {
      check(request, response);
      return true;
    } catch (error) {
      const { status, message } = problemOf(error);
      sendJson(response, status, { detail: message });
      return false;
    }
  };
  const { url, server } = await serveApp(app, { ...place, admit });
  return {
    url,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
