import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { checkHost, checkOrigin } from "../../chat/openai/check-origin.ts";
import { HttpProblem } from "../../chat/openai/http-problem.ts";
import { listen } from "../../chat/openai/listen.ts";
import { targetOf } from "../../chat/openai/request-target.ts";

const host = "127.0.0.1";

/**
 * Serves Temporal's UI, which itself answers whatever name a request has for it, on a port of loopback to the names of this machine
 * alone. Other sites may link to its pages, and ask for nothing else. Returns what closes it. Throws PORT_UNUSABLE.
 */
export async function guardUi(port: number, ui: { host: string; port: number }): Promise<() => void> {
  const { createServer, request } = await import("node:http"); // for its `import` Node loads all of fetch
  const server = createServer((incoming, response) => {
    try {
      const isLink = incoming.method === "GET" && incoming.headers["sec-fetch-mode"] === "navigate";
      (isLink ? checkHost : checkOrigin)(incoming, host);
      forward(request, incoming, response, ui);
    } catch (error) {
      if (!(error instanceof HttpProblem)) throw error;
      response.writeHead(error.status, { "content-type": "text/plain" }).end(error.message);
    }
  });
  await listen(server, host, port);
  server.unref();
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

function forward(
  request: typeof import("node:http").request,
  incoming: IncomingMessage,
  response: ServerResponse,
  ui: { host: string; port: number },
): void {
  const { pathname, search } = targetOf(incoming);
  const headers = { ...incoming.headers, host: `${ui.host}:${ui.port}` };
  const asked = request({ ...ui, method: incoming.method, path: pathname + search, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    pipeline(answer, response, () => {}); // of an end in the middle the browser tells
  });
  asked.on("error", () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502, { "content-type": "text/plain" }).end("Temporal's UI does not answer");
  });
  pipeline(incoming, asked, () => {});
}
