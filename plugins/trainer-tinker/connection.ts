import { type LoraParams, TinkerClient, TinkerError, type TinkerSession } from "@everturn/tinker";
import { EverturnError } from "everturn/engine";
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

/** Connects to a server. Requests whose answers were lost are sent again unless the server would run them twice. */
export function connect(
  { server, url, apiKeyVariable }: ServerAddress,
  whenClosed: "TRAINER_CLOSED" | "POLICY_CLOSED",
): ServerConnection {
  const { repeats, blamesUser } = profiles[server];
  const client = new TinkerClient({
    baseUrl: url,
    apiKey: apiKeyOf({ apiKeyVariable }),
    deduplicates: repeats !== "runs-again",
  });
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

/** Returns the key for the server. Empty for none: the client's own default would send another server's key. */
export function apiKeyOf({ apiKeyVariable }: { apiKeyVariable?: string | undefined }): string {
  return (apiKeyVariable !== undefined && process.env[apiKeyVariable]) || "";
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
