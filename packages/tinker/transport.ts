import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { zstdCompress } from "node:zlib";
import { TinkerError, withDetails } from "./errors.ts";
import type { Answer } from "./http/answer.ts";
import { type Fields, fieldsOf } from "./http/json.ts";
import { type Connection, type Request, send } from "./http/send.ts";
import { abortable } from "./http/signals.ts";
import type { RequestOptions, SubmitOptions } from "./types.ts";

/** How passes are encoded: as protobuf, or as JSON with forward passes at an address of their own. */
export type Wire = "protobuf" | "json";

/** What the parts of a client share: the connection, the server's wire format, and whether it recognizes repetitions. */
export class Transport {
  readonly connection: Connection;
  readonly deduplicates: boolean;
  readonly #zstd: boolean;
  #wire: Promise<Wire> | undefined;

  constructor(
    connection: Connection,
    options: { wire: Wire | undefined; zstd: boolean; deduplicates: boolean },
  ) {
    this.connection = connection;
    this.deduplicates = options.deduplicates;
    this.#zstd = options.zstd;
    this.#wire = options.wire === undefined ? undefined : Promise.resolve(options.wire);
  }

  /** Sends a request that changes nothing, and returns its JSON object. */
  async ask(
    method: "GET" | "POST",
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<Fields> {
    const answer = await send(this.connection, {
      method,
      path,
      body,
      repeatable: true,
      signal: options.signal,
    });
    return fieldsOf(answer.json(), `the answer to ${path}`);
  }

  /** Sends a request that changes something. Throws `bad-answer` with `mayHaveRun` if the answer is not a JSON object. */
  async submit(request: Omit<Request, "repeatable">, options: SubmitOptions): Promise<Submitted> {
    const { idempotencyKey = randomUUID(), repeatable = this.deduplicates, signal } = options;
    const headers = { "x-idempotency-key": idempotencyKey, ...request.headers };
    const answer = await send(this.connection, { ...request, headers, repeatable, signal });
    try {
      return { answer, fields: fieldsOf(answer.json(), `the answer to ${request.path}`) };
    } catch (error) {
      throw mayHaveRun(error);
    }
  }

  /** A protobuf body with its headers, compressed if the client does that. */
  async protobuf(bytes: Uint8Array): Promise<Pick<Request, "body" | "headers">> {
    const headers = { "content-type": "application/x-protobuf" };
    if (!this.#zstd) return { body: bytes, headers };
    return { body: await compress(bytes), headers: { ...headers, "content-encoding": "zstd" } };
  }

  /** The server's wire format. If the client's options don't name it, the first call asks the server. */
  wire(signal?: AbortSignal): Promise<Wire> {
    this.#wire ??= this.#detect().catch((error: unknown) => {
      this.#wire = undefined;
      throw error;
    });
    return abortable(this.#wire, signal);
  }

  /** Sends an empty JSON pass, which no server executes: those that want protobuf refuse its media type. */
  async #detect(): Promise<Wire> {
    const { status } = await send(this.connection, {
      method: "POST",
      path: "forward_backward",
      body: {},
      repeatable: true,
      accepts: (answer) => [400, 415, 422].includes(answer.status),
    });
    return status === 415 ? "protobuf" : "json";
  }
}

/** What the server answered to a request that changes something. */
export interface Submitted {
  readonly answer: Answer;
  readonly fields: Fields;
}

const compress = promisify(zstdCompress);

/** The error of a request that the server accepted with an answer that nobody can read. */
function mayHaveRun(error: unknown): unknown {
  return error instanceof TinkerError ? withDetails(error, { mayHaveRun: true }) : error;
}
