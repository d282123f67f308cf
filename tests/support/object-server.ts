import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { createUniformStream } from "../../src/base/random/uniform-stream.ts";
import { defined } from "../../src/base/records/defined.ts";

/**
 * A server that behaves as an object store does on a bad day, in a process of its own: it is slow, answers 503 or 409 now
 * and then, breaks connections before and after a write took effect and in the middle of an answer, and its listings
 * lag. There is put-if-absent (`If-None-Match: *`), get, head, delete and a paged list. Arguments, JSON: `Behaviour`.
 * It prints its port, and ends with the process that started it.
 */
export interface Behaviour {
  seed: number;
  /** The longest that an answer takes, ms. */
  latency: number;
  /** How many of its requests fail, 0 to 1. */
  failures: number;
  /** By how much listings lag, ms. */
  lag: number;
  /** Where it keeps a file for each object beside, for who wants to look: nobody asks for objects there. */
  data?: string;
}

interface Stored {
  content: Buffer | undefined;
  /** What listings say until `listed`. */
  wasThere: boolean;
  since: number;
}

const { seed, latency, failures, lag, data }: Behaviour = JSON.parse(process.argv[2] ?? "");
const uniform = createUniformStream({ seed, trajectory: "object-server", turn: 0 });
let drawn = 0;
const draw = () => uniform(drawn++);
const objects = new Map<string, Stored>();
const pageLength = 50;

function change(path: string, content: Buffer | undefined): void {
  const wasThere = objects.get(path)?.content !== undefined;
  objects.set(path, { content, wasThere, since: Date.now() });
  if (data !== undefined) keep(join(data, path), content);
}

function keep(file: string, content: Buffer | undefined): void {
  if (content === undefined) {
    rmSync(file, { force: true });
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.new`, content);
    renameSync(`${file}.new`, file);
  }
}

function isListed({ content, wasThere, since }: Stored): boolean {
  return Date.now() - since < lag ? wasThere : content !== undefined;
}

/** A request's body; undefined if its sender died meanwhile. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  try {
    return await buffer(request);
  } catch {
    return undefined;
  }
}

function list(url: URL, response: ServerResponse): void {
  const prefix = url.searchParams.get("prefix") ?? "";
  const after = url.searchParams.get("after") ?? "";
  const all = [...objects].filter(
    ([path, stored]) => path.startsWith(prefix) && path > after && isListed(stored),
  );
  const paths = all.map(([path]) => path).sort();
  const page = paths.slice(0, pageLength);
  response.end(
    JSON.stringify(defined({ paths: page, next: paths.length > pageLength ? page.at(-1) : undefined })),
  );
}

function pathOf(request: IncomingMessage): string {
  return decodeURIComponent(new URL(request.url ?? "", "http://localhost").pathname.slice(1));
}

function answer(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
  const path = pathOf(request);
  if (path === "") list(new URL(request.url ?? "", "http://localhost"), response);
  else answerFor(path, request, body, response);
}

function answerFor(path: string, request: IncomingMessage, body: Buffer, response: ServerResponse): void {
  const content = objects.get(path)?.content;
  if (request.method === "PUT") {
    const isTaken = request.headers["if-none-match"] === "*" && content !== undefined;
    if (!isTaken) change(path, body);
    response.writeHead(isTaken ? 412 : 200).end();
  } else if (request.method === "DELETE") {
    if (content !== undefined) change(path, undefined);
    response.writeHead(204).end();
  } else if (content === undefined) {
    response.writeHead(404).end();
  } else {
    response.writeHead(200, { "content-length": content.length });
    response.end(request.method === "HEAD" ? undefined : content);
  }
}

/** Cuts an answer short that has begun. */
function cut(request: IncomingMessage, response: ServerResponse): void {
  const content = objects.get(pathOf(request))?.content;
  if (request.method === "GET" && content !== undefined) {
    response.writeHead(200, { "content-length": content.length });
    response.write(content.subarray(0, content.length / 2), () => response.destroy());
  } else {
    response.destroy();
  }
}

/** One of the ways in which a request fails. */
function fail(kind: number, request: IncomingMessage, body: Buffer, response: ServerResponse): void {
  if (kind === 0) response.writeHead(503).end();
  else if (kind === 1) response.writeHead(request.method === "PUT" ? 409 : 503).end();
  else if (kind === 2) cut(request, response);
  else {
    const unheard = Object.assign(Object.create(response), { end: () => unheard, writeHead: () => unheard });
    answer(request, body, unheard); // it takes effect, and nobody is told
    if (kind === 3) response.destroy();
    else response.writeHead(503).end();
  }
}

const server = createServer(async (request, response) => {
  const body = await bodyOf(request);
  if (body === undefined) return;
  await sleep(draw() * latency);
  if (draw() >= failures) answer(request, body, response);
  else fail(Math.floor(draw() * 5), request, body, response);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`);
});
process.stdin.on("end", () => process.exit()).resume();
