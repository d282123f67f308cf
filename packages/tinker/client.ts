import { TinkerCheckpoints } from "./checkpoints.ts";
import { TinkerFuture } from "./future.ts";
import { type ApiKey, keyCredential } from "./http/credential.ts";
import { hostedCredential } from "./http/hosted-credential.ts";
import { type Fields, listOf, optionalText, textOf } from "./http/json.ts";
import type { RetryPolicy } from "./http/send.ts";
import { TinkerSession } from "./session.ts";
import { Transport, type Wire } from "./transport.ts";
import type { FutureKind, FutureTicket, RequestOptions } from "./types.ts";

/** The address of Tinker's own service. */
export const hostedUrl = "https://tinker.thinkingmachines.dev/services/tinker-prod";

/** The version of Tinker's SDK whose requests this client sends. */
const sdkVersion = "0.38.0";

/** Options of a client. */
export interface TinkerClientOptions {
  /** The server's address without `/api/v1`. Default: TINKER_BASE_URL, or else Tinker's own service. */
  readonly baseUrl?: string | undefined;
  /**
   * Default: TINKER_API_KEY. A function is called for each request, for credentials that expire. Tinker's own service exchanges
   * it for a token, which the client renews.
   */
  readonly apiKey?: ApiKey | undefined;
  /** How the server wants passes. Default: protobuf for Tinker's own service; others are asked before the first pass. */
  readonly wire?: Wire | undefined;
  /** Whether protobuf passes are compressed. Default false. */
  readonly zstd?: boolean | undefined;
  /**
   * Whether the server recognizes a repeated request by its number, so that a request whose answer was lost may be sent again:
   * true for Tinker, SkyRL and TuFT, false for Hatchery, Twinkle and VeRL. Default: true for Tinker's own service, else false.
   */
  readonly deduplicates?: boolean | undefined;
  /** How often and when failed requests are sent again. Default: 10 attempts, pauses from 0.5 s to 10 s. */
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** How long to wait for one answer, in milliseconds. Default 60,000. */
  readonly requestTimeoutMs?: number | undefined;
  /** Aborts all calls and stops all heartbeats. */
  readonly signal?: AbortSignal | undefined;
  /** Default: Node's. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** Options of a new session. */
export interface SessionOptions extends RequestOptions {
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Tinker's own service only. */
  readonly projectId?: string | undefined;
}

/** What a server reports about itself. */
export interface Capabilities {
  /** The names of its base models. Hatchery reports names that its models start with. */
  readonly models: readonly string[];
  /** The losses that it runs; undefined if it does not list them. */
  readonly losses: readonly string[] | undefined;
  /** The complete answer. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** A client of one training server that speaks Tinker's API. */
export class TinkerClient {
  readonly baseUrl: string;
  readonly checkpoints: TinkerCheckpoints;
  readonly #transport: Transport;

  constructor(options: TinkerClientOptions = {}) {
    const { baseUrl = process.env.TINKER_BASE_URL || hostedUrl, apiKey = process.env.TINKER_API_KEY } =
      options;
    const { retry = {}, requestTimeoutMs = 60_000, fetch = globalThis.fetch, signal } = options;
    this.baseUrl = baseUrl.replace(/\/*$/, "").replace(/\/api\/v1$/, "");
    const isHosted = this.baseUrl === hostedUrl;
    const { zstd = false, deduplicates = isHosted, wire = isHosted ? "protobuf" : undefined } = options;
    const key = apiKey || undefined;
    const connection = {
      baseUrl: this.baseUrl,
      fetch,
      retry: { attempts: 10, minDelayMs: 500, maxDelayMs: 10_000, ...retry },
      requestTimeoutMs,
      signal,
    };
    const credential = isHosted ? hostedCredential(connection, key, sdkVersion) : keyCredential(key);
    this.#transport = new Transport({ ...connection, credential }, { wire, zstd, deduplicates });
    this.checkpoints = new TinkerCheckpoints(this.#transport);
  }

  /** Creates a session, which sends heartbeats until it is closed. */
  async createSession(options: SessionOptions = {}): Promise<TinkerSession> {
    const { tags = [], metadata = {}, projectId } = options;
    const body = {
      tags,
      user_metadata: metadata,
      sdk_version: sdkVersion,
      project_id: projectId,
      type: "create_session",
    };
    const { fields } = await this.#transport.submit(
      { method: "POST", path: "create_session", body },
      { ...options, repeatable: true },
    );
    const messages = ["info_message", "warning_message", "error_message"].flatMap(
      (name) => optionalText(fields, name) ?? [],
    );
    return new TinkerSession(this.#transport, textOf(fields, "session_id"), messages);
  }

  /** A session that exists already. It sends heartbeats until it is closed. */
  session(sessionId: string): TinkerSession {
    return new TinkerSession(this.#transport, sessionId);
  }

  /** A request that this or another process submitted. Sends nothing. */
  future<Kind extends FutureKind>(ticket: FutureTicket<Kind>): TinkerFuture<Kind> {
    return new TinkerFuture(this.#transport, ticket);
  }

  /** Resolves if the server answers. SkyRL answers before its engine is ready, and after it lost its models. */
  async health(options: RequestOptions = {}): Promise<void> {
    await this.#transport.ask("GET", "healthz", undefined, options);
  }

  /** What the server offers. */
  async capabilities(options: RequestOptions = {}): Promise<Capabilities> {
    const raw = await this.#transport.ask("GET", "get_server_capabilities", undefined, options);
    const { supported_loss_fns: losses } = raw;
    return {
      models: listOf(raw, "supported_models").flatMap(modelName),
      losses: Array.isArray(losses) ? losses.filter((loss) => typeof loss === "string") : undefined,
      raw,
    };
  }

  /** The server's settings for clients. */
  config(options: RequestOptions = {}): Promise<Readonly<Record<string, unknown>>> {
    return this.#transport.ask("POST", "client/config", { sdk_version: sdkVersion }, options);
  }

  /** The wire format of the server, from the options or from the server. */
  wire(options: RequestOptions = {}): Promise<Wire> {
    return this.#transport.wire(options.signal);
  }

  /** A training run, which is what a model is called after its session has ended. */
  trainingRun(modelId: string, options: RequestOptions = {}): Promise<Readonly<Record<string, unknown>>> {
    return this.#transport.ask("GET", `training_runs/${encodeURIComponent(modelId)}`, undefined, options);
  }

  /** Training runs, newest first where the server sorts them. */
  async trainingRuns(
    options: RequestOptions & { limit?: number; offset?: number } = {},
  ): Promise<readonly unknown[]> {
    const { limit = 20, offset = 0 } = options;
    const path = `training_runs?limit=${limit}&offset=${offset}`;
    return listOf(await this.#transport.ask("GET", path, undefined, options), "training_runs");
  }
}

function modelName(model: unknown): string[] {
  if (typeof model !== "object" || model === null) return [];
  const fields: Fields = { ...model };
  const name = optionalText(fields, "model_name") ?? optionalText(fields, "model_id");
  return name === undefined ? [] : [name];
}
