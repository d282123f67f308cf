import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../base/errors/message-of.ts";
import type { JsonObject } from "../../contracts/json.ts";
import { apiKeyOf } from "./access-token.ts";
import { type AskedRequest, type AskedRequests, askedRequests } from "./asked-requests.ts";
import { checkOrigin } from "./check-origin.ts";
import { EndpointProblem, problemBody } from "./endpoint-problem.ts";
import { bodyOf } from "./fields.ts";
import { HttpProblem } from "./http-problem.ts";
import { listen } from "./listen.ts";
import type { ModelAnswer, ModelRequest } from "./model-request.ts";
import { isOnlyCompared } from "./only-compared.ts";
import { contentType, openReply, replyText } from "./open-reply.ts";
import { readChatRequest } from "./read-chat.ts";
import { refuseImages } from "./read-content.ts";
import { jsonIn, readJson } from "./read-json.ts";
import { readResponsesRequest } from "./read-responses.ts";
import { requestKey } from "./request-key.ts";
import { targetOf } from "./request-target.ts";
import { sendJson, sendProblem, statusHeaders } from "./send-json.ts";

/** Identifies the request being answered. */
export interface AnswerContext {
  /** Equal for equal requests. */
  key: string;
  /**
   * Which of the session's requests with this key it is, from 1. Repeating a request after a disconnect keeps its
   * number.
   */
  occurrence: number;
  /** Aborts when the endpoint closes. A client's disconnect aborts nothing, because it may repeat its request. */
  signal: AbortSignal;
}

export interface EndpointOptions {
  /**
   * Answers a request. Throws EndpointProblem for errors that the client receives. Other errors are logged, and the
   * client receives status 500.
   */
  answer(session: string, request: ModelRequest, context: AnswerContext): Promise<ModelAnswer>;
  /** The session of an API key; undefined if it has none. */
  authenticate(key: string | undefined): string | undefined;
  /** Handlers of further POST paths; absent: none. */
  others?: Readonly<Record<string, (session: string, body: JsonObject) => Promise<object>>>;
  /** Whether `answer` handles images in messages; default: they are rejected. */
  takesImages?: boolean;
  /** Names that `GET /models` lists. Requests may use any name. */
  models: readonly string[];
  log: (text: string) => void;
  /** Default: 127.0.0.1. */
  host?: string;
  /** Default: 0, any free port. */
  port?: number;
  /** The most concurrent requests. Further ones are asked to retry later. Default: 1024. */
  limit?: number;
  /**
   * When to send the first sign of life for an unanswered request, and the interval of the next ones, in ms.
   * Default: 240,000 and 15,000.
   */
  signs?: { after: number; every: number };
}

/** A POST request without a connection. */
export interface DirectRequest {
  url: string;
  /** The API key. */
  key: string;
  body: string;
}

/** The reply to a request without a connection. */
export interface DirectReply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A server that implements OpenAI's protocols. */
export interface Endpoint {
  /** The base URL for clients. It ends in /v1, and works without it. */
  url: string;
  /** Answers a POST request of this process without a connection. Never rejects. */
  ask(request: DirectRequest, left: AbortSignal): Promise<DirectReply>;
  /**
   * Forgets a session's requests, because its agent restarts and counts from the first one again, or has finished.
   */
  forget(session: string): void;
  /** Rejects new requests, abandons those in progress, and stops. */
  close(): Promise<void>;
}

const readers: Record<string, (body: unknown) => ModelRequest> = {
  "/chat/completions": readChatRequest,
  "/responses": readResponsesRequest,
};

/** How long a request may take to arrive, in ms, so that a slow body does not occupy its place any longer. */
const patience = 60_000;

/**
 * How long an idle connection stays open, in ms. If it were short, it might close just as a busy client sends its next
 * request.
 */
const idleConnection = 300_000;

/** How long abandoned requests may take to receive their error, in ms. */
const grace = 2000;

/** Starts a server for `POST /chat/completions`, `POST /responses` and `GET /models`. Throws PORT_UNUSABLE. */
export async function startEndpoint({
  answer,
  authenticate,
  models,
  log,
  others = {},
  takesImages = false,
  host = "127.0.0.1",
  port = 0,
  limit = 1024,
  signs = { after: 240_000, every: 15_000 },
}: EndpointOptions): Promise<Endpoint> {
  const { createServer } = await import("node:http"); // a static import would load all of fetch
  const sessions = new Map<string, AskedRequests>();
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();
  const started = Math.floor(Date.now() / 1000);
  const modelOf = (id: string) => ({ id, object: "model", created: started, owned_by: "everturn" });

  function sessionOf(key: string | undefined): string {
    const session = authenticate(key);
    if (session !== undefined) return session;
    const wrong = key === undefined ? "The request has no API key" : "There is no session of this API key";
    throw new EndpointProblem(401, `${wrong}: send \`Authorization: Bearer KEY\`.`, {
      code: "invalid_api_key",
    });
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    checkOrigin(request, host);
    const path = pathOf(request);
    const read = readers[path];
    const other = others[path];
    if (other !== undefined) {
      allow(request, ["POST"]);
      const session = sessionOf(apiKeyOf(request));
      sendJson(response, 200, await other(session, bodyOf(await readJson(request))));
      return;
    }
    if (read === undefined) {
      sendJson(response, 200, lookUp(path, request));
      return;
    }
    allow(request, ["POST"]);
    const session = sessionOf(apiKeyOf(request));
    const body = bodyOf(await readJson(request, isOnlyCompared));
    const asked = read(body);
    if (!takesImages) refuseImages(asked.messages);
    return reply(session, asked, requestKey(path.slice(1), body), response);
  }

  function lookUp(path: string, request: IncomingMessage): object {
    const [, kind, id] = /^\/(models)(?:\/(.+))?$/.exec(path) ?? [];
    if (kind === undefined) throw unknownPath(path);
    allow(request, ["GET", "HEAD"]);
    sessionOf(apiKeyOf(request));
    if (id === undefined) return { object: "list", data: models.map(modelOf) };
    if (models.includes(id)) return modelOf(id);
    throw new EndpointProblem(404, `There is no model ${id}: there are ${models.join(", ")}.`, {
      code: "model_not_found",
    });
  }

  async function reply(
    session: string,
    request: ModelRequest,
    key: string,
    response: ServerResponse,
  ): Promise<void> {
    if (response.destroyed) return; // its client disconnected: it may repeat the request
    const asked = askedBy(session, request, key);
    response.once("finish", asked.delivered);
    response.once("close", asked.left);
    const open = openReply(request, response, signs);
    try {
      open.send(await asked.answer);
    } catch (error) {
      open.fail(problemOf(error));
    } finally {
      open.end();
    }
  }

  function askedBy(session: string, request: ModelRequest, key: string): AskedRequest {
    const known = sessions.get(session) ?? askedRequests();
    sessions.set(session, known);
    const { signal } = closing;
    return known.ask(key, (occurrence) => answer(session, request, { key, occurrence, signal }));
  }

  async function answerDirectly(
    { url: address, key: apiKey, body: text }: DirectRequest,
    left: AbortSignal,
  ): Promise<DirectReply> {
    const path = pathIn(new URL(address));
    const session = sessionOf(apiKey);
    const body = bodyOf(jsonIn(text, isOnlyCompared));
    const other = others[path];
    if (other !== undefined) return directJson(200, await other(session, body));
    const read = readers[path];
    if (read === undefined) throw unknownPath(path);
    const request = read(body);
    if (!takesImages) refuseImages(request.messages);
    const asked = askedBy(session, request, requestKey(path.slice(1), body));
    left.addEventListener("abort", asked.left, { once: true });
    const given = await asked.answer;
    asked.delivered();
    return {
      status: 200,
      headers: { "content-type": contentType(request) },
      body: replyText(request, given),
    };
  }

  function problemOf(error: unknown): HttpProblem {
    if (error instanceof HttpProblem) return error;
    if (closing.signal.aborted) return new EndpointProblem(503, "The endpoint is closed.");
    log(`a request failed: ${messageOf(error)}`);
    return new EndpointProblem(500, "The endpoint failed; its log explains why.");
  }

  const server = createServer(
    { requestTimeout: patience, keepAliveTimeout: idleConnection },
    (request, response) => {
      const handled = (async () => {
        try {
          if (closing.signal.aborted) throw new EndpointProblem(503, "The endpoint is closed.");
          if (underWay.size >= limit)
            throw new EndpointProblem(429, `More than ${limit} requests are under way: ask again.`);
          await handle(request, response);
        } catch (error) {
          if (response.headersSent || response.destroyed) response.destroy();
          else sendProblem(response, problemOf(error));
        }
      })();
      underWay.add(handled);
      void handled.then(() => underWay.delete(handled));
    },
  );
  const url = await listen(server, host, port);

  return {
    url: `${url}/v1`,
    ask: async (request, left) => {
      try {
        return await answerDirectly(request, left);
      } catch (error) {
        const problem = problemOf(error);
        return directJson(problem.status, problemBody(problem));
      }
    },
    forget: (session) => {
      sessions.delete(session);
    },
    close: async () => {
      closing.abort(new EndpointProblem(503, "The endpoint is closed."));
      server.close();
      await Promise.race([Promise.all(underWay), sleep(grace, undefined, { ref: false })]);
      server.closeAllConnections();
    },
  };
}

function directJson(status: number, body: object): DirectReply {
  const headers = { "content-type": "application/json", ...statusHeaders(status) };
  return { status, headers, body: JSON.stringify(body) };
}

function unknownPath(path: string): EndpointProblem {
  return new EndpointProblem(
    404,
    `There is no ${path}: ask POST /chat/completions, POST /responses or GET /models.`,
    { code: "not_found" },
  );
}

/** The path of a request without the /v1 at the end of base URLs. */
function pathOf(request: IncomingMessage): string {
  return pathIn(targetOf(request));
}

function pathIn({ pathname }: URL): string {
  return pathname.replace(/^\/v1(?=\/|$)/, "").replace(/\/$/, "") || "/";
}

function allow({ method = "" }: IncomingMessage, methods: string[]): void {
  if (methods.includes(method)) return;
  throw new EndpointProblem(405, `${method} is not for this path; ${methods[0]} is.`);
}
