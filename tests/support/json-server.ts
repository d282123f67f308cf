import { createServer, type IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { onLoopback } from "./on-loopback.ts";

/** What a server was asked, and what it says to that. */
export interface Asked {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: ReturnType<typeof JSON.parse>;
}

/** A server on loopback until the test is over, that answers what `answer` says: a value as JSON, a text as it is. */
export async function jsonServer(
  answer: (asked: Asked) => { status?: number; headers?: Record<string, string>; value: unknown },
): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const { url = "", method = "", headers } = request;
    const sent = await text(request);
    const one = { method, path: url, headers, body: sent === "" ? undefined : JSON.parse(sent) };
    asked.push(one);
    const { status = 200, headers: more, value } = answer(one);
    response.writeHead(status, { "content-type": "application/json", ...more });
    response.end(typeof value === "string" ? value : JSON.stringify(value));
  });
  return { url: await onLoopback(server), asked };
}
