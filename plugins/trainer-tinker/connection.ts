import {
  type LoraParams,
  TinkerClient,
  type TinkerClientOptions,
  TinkerError,
  type TinkerModel,
  type TinkerSession,
} from "@everturn/tinker";
import { type ConfigurationProblem, EverturnError } from "everturn/engine";
import type { AdapterSettings } from "./policy-files.ts";
import { profiles, type ServerName } from "./profiles.ts";

/** How to reach a server. */
export interface ServerAddress {
  server: ServerName;
  url: string;
  apiKeyVariable?: string;
}

/** Makes a call with options for the client. */
export type Requester = <T>(
  work: (options: { signal: AbortSignal }) => Promise<T>,
  signal?: AbortSignal,
) => Promise<T>;

/** A client of a server, and its calls. */
export interface ServerConnection {
  client: TinkerClient;
  /**
   * Makes a call until `signal` aborts. Throws TINKER_REQUEST_REFUSED for a request that fails in every attempt,
   * TINKER_MODEL_LOST for everything that a new model can recover from, the signal's reason, and the error `whenClosed`
   * once the connection is closed.
   */
  call: Requester;
  /** Opens a session, which the server drops with its models some time after the last heartbeat. */
  openSession(): Promise<TinkerSession>;
  /** Ends all calls. */
  close(): void;
}

/**
 * Returns a client of a server. Requests whose answers were lost are sent again unless the server would run them twice.
 * Without a variable it sends no key: its own default would be another server's.
 */
export function clientOf(
  { server, url, apiKeyVariable }: ServerAddress,
  options: Pick<TinkerClientOptions, "retry" | "requestTimeoutMs"> = {},
): TinkerClient {
  return new TinkerClient({
    ...options,
    baseUrl: url,
    apiKey: (apiKeyVariable !== undefined && process.env[apiKeyVariable]) || "",
    deduplicates: profiles[server].repeats !== "runs-again",
  });
}

/** Connects to a server. */
export function connect(
  address: ServerAddress,
  whenClosed: "TRAINER_CLOSED" | "POLICY_CLOSED",
): ServerConnection {
  const { blamesUser } = profiles[address.server];
  const client = clientOf(address);
  const closing = new AbortController();
  const call: Requester = async (work, signal) => {
    const either = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]);
    try {
      return await work({ signal: either });
    } catch (cause) {
      if (closing.signal.aborted) throw new EverturnError(whenClosed, {}, { cause });
      throw translated(cause, blamesUser);
    }
  };
  return {
    client,
    call,
    async openSession() {
      const session = await call((options) => client.createSession(options));
      await call(({ signal }) => session.heartbeat(signal)); // SkyRL drops no session that never sent one, nor its models
      return session;
    },
    close: () => closing.abort(),
  };
}

/** Milliseconds to wait for a server to release something. Later it drops it with the session. */
export const releasePatience = 5000;

/** Asks a server to release models. */
export async function releaseModels(models: Iterable<TinkerModel>): Promise<void> {
  const signal = AbortSignal.timeout(releasePatience);
  await Promise.allSettled([...models].map((model) => model.unload({ signal })));
}

/** The problem of a configuration that names no server. */
export function urlProblems({ server, url }: ServerAddress): ConfigurationProblem[] {
  if (url !== "") return [];
  const reason = `is missing, and ${profiles[server].title} has no usual one`;
  return [{ key: "url", reason, help: "Add the server's URL, for example url: http://127.0.0.1:8000." }];
}

/** An adapter's settings in the client's terms. */
export function adapterParams({ rank, attention, mlp, unembedding }: AdapterSettings): LoraParams {
  return { rank, trainAttn: attention, trainMlp: mlp, trainUnembed: unembedding };
}

/** Failures that another attempt would meet again. */
const permanent: readonly TinkerError["code"][] = [
  "unauthorized",
  "payment-required",
  "unexpected-base-model",
  "unknown-checkpoint",
  "invalid-request",
  "unsupported-media",
  "not-supported",
  "too-large",
  "bad-answer",
];

function translated(cause: unknown, blamesUser = false): unknown {
  if (!(cause instanceof TinkerError)) return cause;
  const isBlamed = cause.category === "user_error" && !blamesUser;
  const isPermanent = permanent.includes(cause.code) || isBlamed;
  const code = isPermanent ? "TINKER_REQUEST_REFUSED" : "TINKER_MODEL_LOST";
  return new EverturnError(code, { reason: cause.message.replace(/[.\s]+$/, "") }, { cause });
}
