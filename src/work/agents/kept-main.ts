import { AsyncLocalStorage } from "node:async_hooks";
import { inspect } from "node:util";
import { parentPort } from "node:worker_threads";
import type { DirectReply } from "../../chat/openai/endpoint-server.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { FromKept, KeptSession, ToKept } from "./kept-protocol.ts";
import { agentContext, answerOf, loadAgent } from "./load-agent.ts";
import { type SendDirectly, shareEnvironment } from "./shared-environment.ts";

// The thread or process of a kept agent: `kept-main MODULE EXPORT SETTINGS BASE_URL`. It loads the agent once and runs
// trajectories that arrive as messages.

const [module = "", name = "default", written = "{}", baseURL = ""] = process.argv.slice(2);
const settings: JsonObject = JSON.parse(written);
/** The trajectory that the current code runs for, even after that trajectory has ended. */
const current = new AsyncLocalStorage<KeptSession>();
const running = new Map<number, AbortController>();
/** Requests to the endpoint that wait for their replies. */
const requests = new Map<number, (reply: DirectReply) => void>();
let newestRequest = 0;

function post(message: FromKept): void {
  if (parentPort !== null) parentPort.postMessage(message);
  else process.send?.(message, undefined, undefined, () => {}); // ignored if the worker is gone
}

/** Sends a request to the worker's own thread, which has the endpoint. */
const send: SendDirectly = async (request, signal) => {
  signal?.throwIfAborted();
  const id = ++newestRequest;
  const { promise, resolve, reject } = Promise.withResolvers<DirectReply>();
  const leave = () => {
    post({ type: "left", id });
    reject(signal?.reason);
  };
  requests.set(id, resolve);
  signal?.addEventListener("abort", leave);
  post({ type: "request", id, request });
  try {
    return await promise;
  } finally {
    requests.delete(id);
    signal?.removeEventListener("abort", leave);
  }
};

async function run(session: KeptSession): Promise<void> {
  const { number, task, key: apiKey } = session;
  const ending = new AbortController();
  running.set(number, ending);
  try {
    const agent = await loading;
    const given = { task, settings, baseURL, apiKey, signal: ending.signal };
    const answer = answerOf(await agent(agentContext(given)));
    if (running.delete(number)) post({ type: "ended", session: number, answer });
  } catch (error) {
    fail(number, error);
  }
}

function fail(session: number, error: unknown): void {
  if (running.delete(session)) post({ type: "failed", session, reason: inspect(error) });
}

/** An error that nothing caught fails its trajectory. If it belongs to none, the thread or process ends. */
function onUncaught(error: unknown): void {
  const session = current.getStore();
  if (session !== undefined) {
    fail(session.number, error); // a trajectory that has ended can't fail any more
    return;
  }
  process.stderr.write(`${inspect(error)}\n`);
  process.exit(1);
}

function hear(message: ToKept): void {
  switch (message.type) {
    case "run":
      void current.run(message.session, run, message.session);
      break;
    case "abort":
      running.get(message.session)?.abort(new Error("The trajectory has ended."));
      break;
    case "reply":
      requests.get(message.id)?.(message.reply);
      break;
    case "ping":
      post({ type: "pong" });
      break;
  }
}

if (parentPort === null) {
  process.on("message", hear);
  process.once("disconnect", () => process.kill(-process.pid, "SIGKILL")); // the worker is gone, so end with all children
} else {
  parentPort.on("message", hear);
  for (const stream of [process.stdout, process.stderr]) {
    stream.write = (
      chunk: string | Uint8Array,
      encoding?: BufferEncoding | ((error?: Error | null) => void),
      done?: (error?: Error | null) => void,
    ) => {
      post({ type: "said", session: current.getStore()?.number, text: Buffer.from(chunk).toString() });
      (typeof encoding === "function" ? encoding : done)?.();
      return true;
    };
  }
  process.once("exit", (code) => post({ type: "ending", session: current.getStore()?.number, code }));
}
process.on("uncaughtException", onUncaught);
process.on("unhandledRejection", onUncaught);

shareEnvironment(baseURL, () => current.getStore(), parentPort === null ? undefined : send);
const loading = loadAgent(module, name);
loading.then(
  () => post({ type: "loaded" }),
  (error: unknown) => post({ type: "unusable", reason: inspect(error) }),
);
