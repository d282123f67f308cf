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

/** What a server said. */
export interface EngineReply {
  status: number;
  /** The body as JSON; its text if it is none. */
  body: unknown;
}

/** A request to a server. */
export interface EngineRequest {
  method: "GET" | "POST";
  url: string;
  body?: unknown;
  key?: string | undefined;
  signal: AbortSignal;
  /** Makes the body of the answer's text; default: `JSON.parse`. */
  parse?: (text: string) => unknown;
}

/** An answer that is longer is not read: one of 128 Ki tokens with log-probabilities has about 16 MiB. */
const longest = 256 * 2 ** 20;

/** No whole answer came: the connection failed or ended in the middle. */
export class NoReply extends Error {}

/**
 * Asks a server, for as long as it takes: unlike `fetch`, which gives up after five minutes without a header, when a long
 * action is being written. Throws NoReply, and the signal's reason.
 */
export async function askEngine({
  method,
  url,
  body,
  key,
  signal,
  parse = JSON.parse,
}: EngineRequest): Promise<EngineReply> {
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
