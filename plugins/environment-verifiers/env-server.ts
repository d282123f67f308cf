import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { decode, encode } from "@msgpack/msgpack";
import { isObject, type JsonObject } from "everturn/plugin";
import { Dealer } from "zeromq";

/** A connection to an environment server of verifiers. */
export interface EnvServer {
  /** Waits until the server answers. Throws if it does not within `limit` milliseconds. */
  health(limit: number): Promise<void>;
  /**
   * Runs an episode. `onDelta` receives its parts as they come. Returns the reply at its end. After an abort, cancels the
   * episode and throws the signal's reason. Throws if the connection ends or the server breaks the protocol.
   */
  run(request: JsonObject, onDelta: (delta: JsonObject) => void, signal: AbortSignal): Promise<JsonObject>;
  close(): void;
}

interface Waiting {
  reply: PromiseWithResolvers<JsonObject>;
  onDelta(delta: JsonObject): void;
}

/** Milliseconds between two signs of life on the connection, and for their answers. */
const heartbeat = { heartbeatInterval: 5000, heartbeatTimeout: 30_000 };

/** Milliseconds for the answer to a cancel. An ended trajectory waits for two seconds. */
const cancelLimit = 1000;

/** Connects to a server, which need not run yet. Messages are sent only while it is connected. */
export function connect(address: string): EnvServer {
  const socket = new Dealer({ linger: 0, immediate: true, ...heartbeat });
  const waiting = new Map<string, Waiting>();
  let broken: Error | undefined;
  let sending: Promise<void> = Promise.resolve();

  function end(reason: string): void {
    broken ??= new Error(`${address} ${reason}`);
    for (const { reply } of waiting.values()) reply.reject(broken);
    waiting.clear();
    socket.close();
  }

  async function listen(): Promise<void> {
    for await (const frames of socket) {
      const [id, kind, payload] = frames.map(String);
      const content = contentOf(frames[2]);
      if (frames.length !== 3 || id === undefined || (kind !== "delta" && kind !== "reply"))
        return end(`sent ${frames.length} frames that are no delta and no reply`);
      if (content === undefined)
        return end(`sent a ${kind} that is not a msgpack map: ${shortened(payload)}`);
      const asked = waiting.get(id);
      if (kind === "delta") asked?.onDelta(content);
      else asked?.reply.resolve(content);
    }
  }

  /** Sends after what is being sent: a socket sends one message at a time. */
  function send(id: string, method: string, payload: JsonObject): Promise<void> {
    sending = sending.catch(() => {}).then(() => socket.send([id, method, encode(payload)]));
    return sending;
  }

  async function ask(
    method: string,
    payload: JsonObject,
    { id = randomUUID(), onDelta = () => {} }: { id?: string; onDelta?: Waiting["onDelta"] } = {},
  ): Promise<JsonObject> {
    if (broken !== undefined) throw broken;
    const reply = Promise.withResolvers<JsonObject>();
    waiting.set(id, { reply, onDelta });
    send(id, method, payload).catch((error) => reply.reject(broken ?? error));
    try {
      return await reply.promise;
    } finally {
      waiting.delete(id);
    }
  }

  socket.events.on("disconnect", () => end("closed the connection"));
  socket.events.on("handshake:error:protocol", () => end("does not speak ZeroMQ's protocol"));
  socket.connect(address);
  listen().catch((error) => end(`failed: ${error}`));

  return {
    health: async (limit) => {
      const late = new AbortController();
      const tooLate = sleep(limit, undefined, { signal: late.signal }).then(() =>
        end(`did not answer within ${limit / 1000} s`),
      );
      try {
        const answer = await ask("health", {});
        if (answer.success !== true) throw new Error(`${address} is not healthy: ${JSON.stringify(answer)}`);
      } finally {
        late.abort();
        await tooLate.catch(() => {});
      }
    },
    run: async (request, onDelta, signal) => {
      signal.throwIfAborted();
      const id = randomUUID();
      const aborted = Promise.withResolvers<never>();
      const abort = () => aborted.reject(signal.reason);
      signal.addEventListener("abort", abort, { once: true });
      try {
        return await Promise.race([ask("run", request, { id, onDelta }), aborted.promise]);
      } catch (error) {
        if (signal.aborted && broken === undefined) {
          const cancelled = ask("cancel", { request_id: id }).catch(() => {}); // the server may be gone
          await Promise.race([cancelled, sleep(cancelLimit)]);
        }
        throw error;
      } finally {
        signal.removeEventListener("abort", abort);
      }
    },
    close: () => end("was left"),
  };
}

/** A message's content. Undefined if it is not a msgpack map. */
function contentOf(payload: Uint8Array | undefined): JsonObject | undefined {
  try {
    const content = payload === undefined ? undefined : decode(payload);
    return isObject(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

function shortened(text = ""): string {
  return JSON.stringify(text.slice(0, 60));
}
