import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { checkHost, checkOrigin } from "../../chat/openai/check-origin.ts";
import { HttpProblem } from "../../chat/openai/http-problem.ts";
import { listen } from "../../chat/openai/listen.ts";
import { targetOf } from "../../chat/openai/request-target.ts";

const host = "127.0.0.1";

/**
 * Serves Temporal's UI on a loopback port to requests for this machine's names only; the UI itself answers to any
 * name. Other sites may link to its pages, but request nothing else. Returns a function that closes it. Throws
 * PORT_UNUSABLE.
 */
export async function guardUi(port: number, ui: { host: string; port: number }): Promise<() => void> {
  const { createServer, request } = await import("node:http"); // a static import would load all of fetch
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
    pipeline(answer, response, () => {}); // the browser reports an end in the middle
  });
  asked.on("error", () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502, { "content-type": "text/plain" }).end("Temporal's UI does not answer");
  });
  pipeline(incoming, asked, () => {});
}
