import { setTimeout as sleep } from "node:timers/promises";
import { isObject, type JsonObject } from "everturn/plugin";

/** The result of a reset or a step. */
export interface Observed {
  observation: JsonObject;
  /** Null if the environment gave none, also in place of a number that JSON does not have. */
  reward: number | null;
  done: boolean;
}

/** An error frame of the server. */
export class FrameError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

/** A connection to an episode. Its frames are answered in order. After an abort, it is closed. */
export interface Episode {
  reset(data: JsonObject, signal: AbortSignal): Promise<Observed>;
  step(action: JsonObject, signal: AbortSignal): Promise<Observed>;
  state(signal: AbortSignal): Promise<JsonObject>;
  close(): void;
}

/** Milliseconds between attempts to attach while another connection is attached, or the server is full. */
const pause = 250;

/**
 * Connects to the server: to the episode of a session, or to a new one. Waits while another connection is attached to the
 * session or the server is full. Throws FrameError if the session is unknown, and the errors of the connection.
 */
export async function connect(
  url: string,
  session: string | undefined,
  signal: AbortSignal,
): Promise<Episode> {
  const query = session === undefined ? "" : `?session_id=${encodeURIComponent(session)}`;
  const address = `${url.replace(/^http/, "ws")}/ws${query}`;
  for (;;) {
    const episode = await opened(address, signal);
    try {
      await episode.state(signal); // the server may accept a socket and then refuse an episode
      return episode;
    } catch (error) {
      episode.close();
      const isBusy =
        error instanceof FrameError &&
        (error.code === "CAPACITY_REACHED" || error.message.includes("already has an attached WebSocket"));
      if (!isBusy) throw error;
      await sleep(pause, undefined, { signal });
    }
  }
}

async function opened(address: string, signal: AbortSignal): Promise<Episode> {
  signal.throwIfAborted();
  const socket = new WebSocket(address);
  const waiting: PromiseWithResolvers<JsonObject>[] = [];
  let broken: Error | undefined;
  const opening = Promise.withResolvers<void>();

  function end(error: Error): void {
    broken ??= error;
    opening.reject(broken);
    for (const one of waiting.splice(0)) one.reject(broken);
  }
  socket.addEventListener("open", () => opening.resolve());
  socket.addEventListener("error", () => end(new Error(`the connection to ${address} failed`)));
  socket.addEventListener("close", ({ code }) =>
    end(new Error(`the connection to ${address} ended (${code})`)),
  );
  socket.addEventListener("message", ({ data }) => {
    const frame: unknown = JSON.parse(String(data));
    const next = waiting.shift();
    if (isObject(frame) && frame.type !== "error" && next !== undefined) {
      next.resolve(frame);
      return;
    }
    const { code, message } = Object(Object(frame).data);
    const error = new FrameError(String(code), String(message));
    if (next === undefined) broken ??= error;
    else next.reject(error);
  });

  async function ask(type: string, data: JsonObject | undefined, asking: AbortSignal): Promise<JsonObject> {
    asking.throwIfAborted();
    if (broken !== undefined) throw broken;
    const answer = Promise.withResolvers<JsonObject>();
    const abort = () => {
      socket.close(); // later answers would belong to other questions
      end(Object(asking.reason));
    };
    waiting.push(answer);
    asking.addEventListener("abort", abort, { once: true });
    try {
      socket.send(JSON.stringify({ type, data }));
      const { data: told } = await answer.promise;
      return isObject(told) ? told : {};
    } finally {
      asking.removeEventListener("abort", abort);
    }
  }

  const abort = () => socket.close();
  signal.addEventListener("abort", abort, { once: true });
  try {
    await opening.promise;
  } finally {
    signal.removeEventListener("abort", abort);
  }
  return {
    reset: async (data, asking) => observed(await ask("reset", data, asking)),
    step: async (action, asking) => observed(await ask("step", action, asking)),
    state: (asking) => ask("state", undefined, asking),
    close: () => socket.close(),
  };
}

function observed({ observation, reward, done }: JsonObject): Observed {
  return {
    observation: isObject(observation) ? observation : {},
    reward: typeof reward === "number" ? reward : null,
    done: done === true,
  };
}
