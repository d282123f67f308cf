import { decode, encode } from "@msgpack/msgpack";
import { onTestFinished } from "vitest";
import { Router } from "zeromq";
import { isObject, type JsonObject } from "../../src/contracts/json.ts";

/** A request that a server of the tests got, and the means to answer it. */
export interface AskedFrames {
  id: string;
  method: string;
  payload: JsonObject;
  /** Sends a message about the request. Default for `id`: the request's. */
  send(kind: string, payload: unknown, id?: string): Promise<void>;
  /** Sends frames as they are. */
  sendRaw(...frames: (string | Uint8Array)[]): Promise<void>;
}

/** An environment server on loopback that speaks verifiers' frames, until the test is over. */
export interface VerifiersServer {
  address: string;
  asked: AskedFrames[];
  close(): void;
}

/** Starts a server that answers `health`, and all else by `answer`. */
export async function verifiersServer(
  answer: (asked: AskedFrames) => Promise<void> | void,
  { isHealthy = true, address = "tcp://127.0.0.1:*" } = {},
): Promise<VerifiersServer> {
  const router = new Router({ linger: 0 });
  await router.bind(address);
  const asked: AskedFrames[] = [];
  let sending: Promise<void> = Promise.resolve();

  async function listen(): Promise<void> {
    for await (const [client, id, method, content] of router) {
      if (client === undefined || content === undefined) continue;
      const payload = decode(content);
      const sendRaw = (...frames: (string | Uint8Array)[]) => {
        sending = sending.catch(() => {}).then(() => router.send([client, ...frames]));
        return sending;
      };
      const one: AskedFrames = {
        id: String(id),
        method: String(method),
        payload: isObject(payload) ? payload : {},
        sendRaw,
        send: (kind, given, of = String(id)) => sendRaw(of, kind, encode(given)),
      };
      asked.push(one);
      if (one.method === "health" && isHealthy) await one.send("reply", { success: true, error: null });
      else if (one.method !== "health") void answer(one);
    }
  }

  const listening = listen();
  const close = () => {
    if (!router.closed) router.close();
  };
  listening.catch(close);
  onTestFinished(close);
  return { address: router.lastEndpoint ?? "", asked, close };
}
