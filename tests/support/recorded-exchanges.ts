import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { onLoopback } from "./on-loopback.ts";

/** A body in `tests/fixtures/tinker`: JSON, a text, or protobuf as base64, whose decoded form is next to it. */
export type RecordedBody = ReturnType<typeof JSON.parse>;

/** A request and its answer, as `tests/fixtures/tinker` has them. */
export interface Exchange {
  note: string;
  request: { method: string; path: string; body?: RecordedBody; decoded?: RecordedBody };
  response: { status: number; contentType: string; body: RecordedBody; decoded?: RecordedBody };
}

/** The exchanges of a file under these notes, in the order of the notes. */
export function exchanges(file: string, notes: readonly string[]): Exchange[] {
  const path = join(import.meta.dirname, "..", "fixtures", "tinker", `${file}.json`);
  const recorded: Exchange[] = JSON.parse(readFileSync(path, "utf8"));
  return notes.map((note) => {
    const found = recorded.find((one) => one.note === note);
    if (found === undefined) throw new Error(`${file}.json has no exchange “${note}”`);
    return found;
  });
}

/** A request that a replaying server got. */
export interface Sent {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A server on loopback, until the test is over, that gives recorded answers in order, each to a request for its path. */
export async function replay(recorded: readonly Exchange[]): Promise<{ baseUrl: string; sent: Sent[] }> {
  const sent: Sent[] = [];
  const rest = [...recorded];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    sent.push({ method, path: url, headers, body: await buffer(request) });
    const next = rest.shift();
    const isExpected = next?.request.method === method && next.request.path === url.replace(/\?.*/, "");
    if (next === undefined || !isExpected) {
      response.writeHead(418).end(`${method} ${url} came instead of ${next?.note}`);
      return;
    }
    const { status, contentType, body } = next.response;
    response.writeHead(status, { "content-type": contentType }).end(bytesOf(body));
  });
  return { baseUrl: await onLoopback(server), sent };
}

/** A recorded body as it was on the wire. */
export function bytesOf(body: RecordedBody): Buffer {
  if (typeof body === "string") return Buffer.from(body);
  return typeof body.base64 === "string"
    ? Buffer.from(body.base64, "base64")
    : Buffer.from(JSON.stringify(body));
}
