import type { IncomingMessage } from "node:http";
import type { Payload, PayloadCodec } from "@temporalio/common";
import { type JSONPayload, JSONToPayload, payloadToJSON } from "@temporalio/common/lib/proto-utils.js";
import { Hono } from "hono";
import { cors } from "hono/cors";
import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { bearerOf, isSameSecret } from "../../chat/openai/access-token.ts";
import { checkHost, isLoopbackUrl } from "../../chat/openai/check-origin.ts";
import { HttpProblem } from "../../chat/openai/http-problem.ts";
import { readJson } from "../../chat/openai/read-json.ts";
import { targetOf } from "../../chat/openai/request-target.ts";
import { type NodeEnv, serveDetailed } from "../../chat/openai/serve-app.ts";
import { isObject } from "../../contracts/json.ts";

interface Options {
  host: string;
  /** 0: any free port. */
  port: number;
  /** The token that requests must have, as a bearer token or as a part of their path; absent: none. */
  token: string | undefined;
  /** Origins of Temporal UIs that may ask, in addition to those of this machine. */
  origins: readonly string[];
  log: (text: string) => void;
}

/**
 * Serves a codec by the protocol of Temporal's UI and CLI: POST of payloads as JSON to a path that ends in `/encode`
 * or `/decode` (https://docs.temporal.io/codec-server). Throws PORT_UNUSABLE.
 */
export async function openCodecServer(
  codec: PayloadCodec,
  { host, port, token, origins, log }: Options,
): Promise<{ url: string; close(): Promise<void> }> {
  const mayAsk = (origin: string) => origins.includes(origin) || isLoopbackUrl(origin);
  const app = new Hono<NodeEnv>();
  app.use(
    cors({
      origin: (origin) => (mayAsk(origin) ? origin : null),
      allowMethods: ["POST"],
      allowHeaders: ["authorization", "content-type", "x-namespace"],
      credentials: true, // Temporal's UI sends its user's cookies if it is set up to
      maxAge: 600,
    }),
  );
  app.post("*", async (c) => {
    const { origin } = c.env.incoming.headers;
    if (origin !== undefined && !mayAsk(origin))
      throw new HttpProblem(403, `pages of ${origin} may not ask this server`);
    const parts = targetOf(c.env.incoming).pathname.split("/"); // Hono decodes some of its path
    if (token !== undefined) checkToken(c.env.incoming, parts, token);
    const work = { encode: codec.encode, decode: codec.decode }[parts.at(-1) ?? ""];
    if (work === undefined) throw new HttpProblem(404, "there is no such path, but /encode and /decode");
    const payloads = await work(payloadsIn(await readJson(c.env.incoming)));
    return c.json({ payloads: payloads.map(payloadToJSON) });
  });
  app.notFound(() => {
    throw new HttpProblem(405, "this server answers only POST");
  });
  return serveDetailed(app, {
    host,
    port,
    check: (request) => checkHost(request, host),
    problemOf: (error) => problemOf(error, log),
  });
}

/** Temporal's UI can't send a token of its own, but keeps the path of the address that it was given. */
function checkToken(request: IncomingMessage, parts: readonly string[], token: string): void {
  const bearer = bearerOf(request);
  if (bearer !== undefined && isSameSecret(bearer, token)) return;
  if (parts.slice(0, -1).some((part) => isSameSecret(part, encodeURIComponent(token)))) return;
  throw new HttpProblem(
    401,
    "the request lacks the server's token: use the address that the command printed, or send `Authorization: Bearer …`",
  );
}

function payloadsIn(body: unknown): Payload[] {
  const payloads: unknown = isObject(body) ? body.payloads : undefined;
  if (!Array.isArray(payloads) || !payloads.every(isPayload))
    throw new HttpProblem(400, "the request has no `payloads`: a list of payloads in protobuf's JSON");
  return payloads.map(JSONToPayload);
}

/** Whether a value is a payload in protobuf's JSON, in which bytes are base64. */
function isPayload(value: unknown): value is JSONPayload {
  if (!isObject(value)) return false;
  const { metadata = {}, data = "" } = value;
  return isObject(metadata) && [...Object.values(metadata), data].every((one) => typeof one === "string");
}

/** The error that clients receive. Unknown ones are logged. */
function problemOf(error: unknown, log: (text: string) => void): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (isEverturnError(error)) return new HttpProblem(400, error.message);
  log(`a request failed: ${messageOf(error)}`);
  return new HttpProblem(500, "the server failed; its log explains why");
}
