import {
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestHttp,
} from "node:http";
import { request as requestHttps } from "node:https";
import { text } from "node:stream/consumers";
import { messageOf } from "../../base/errors/message-of.ts";
import { defined } from "../../base/records/defined.ts";

/** A server's answer. */
export interface ServerReply {
  status: number;
  /** The body as JSON, or its text if it is not JSON. */
  body: unknown;
}

/** A request to a server. */
export interface ServerRequest {
  method: "GET" | "POST";
  url: string;
  body?: unknown;
  key?: string | undefined;
  signal: AbortSignal;
  /** Parses the answer's text into `body`. Default: `JSON.parse`. */
  parse?: (text: string) => unknown;
}

/** The most bytes of an answer to read. An answer of 128 Ki tokens with log-probabilities has about 16 MiB. */
const longest = 256 * 2 ** 20;

/** The answer is missing or incomplete because the connection failed. */
export class NoReply extends Error {}

/**
 * Sends a request and waits for the answer without a time limit. `fetch` gives up after five minutes without headers,
 * which is too short for long actions. Throws NoReply, and the signal's reason.
 */
export async function askServer({
  method,
  url,
  body,
  key,
  signal,
  parse = JSON.parse,
}: ServerRequest): Promise<ServerReply> {
  signal.throwIfAborted();
  const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const headers = defined<OutgoingHttpHeaders>({
    "content-type": sent && "application/json",
    "content-length": sent?.length,
    authorization: key === undefined ? undefined : `Bearer ${key}`,
  });
  const open = url.startsWith("https:") ? requestHttps : requestHttp;
  const asking = open(url, { method, headers, signal });
  try {
    const response = await responseTo(asking, sent);
    const said = await text(bounded(response));
    if (!response.complete) throw new Error("the answer ended in the middle");
    return { status: response.statusCode ?? 0, body: parsed(said, parse) };
  } catch (error) {
    signal.throwIfAborted();
    throw new NoReply(messageOf(error));
  }
}

function responseTo(asking: ClientRequest, body: Buffer | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    asking.on("response", resolve);
    asking.on("error", reject);
    asking.end(body);
  });
}

async function* bounded(response: IncomingMessage): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > longest) throw new Error("the answer is too long");
    yield chunk;
  }
}

function parsed(said: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(said);
  } catch {
    return said;
  }
}
