import { EverturnError } from "../../base/errors/everturn-error.ts";
import { exceedsContext } from "./context-limit.ts";
import { areLogProbabilities } from "./server-actions.ts";
import type { Ask, EngineAction, EngineAnswer, EngineProtocol } from "./server-protocol.ts";
import { askServer, NoReply } from "./server-request.ts";
import { versionGate } from "./version-gate.ts";

/** Weights to load on an inference server. */
export interface ServedWeights {
  /** The whole weights: their folder and their label on the server. */
  base: { folder: string; label: string };
  /** An adapter over them. */
  adapter?: { folder: string; name: string };
}

/** How to talk to a replica. */
export interface ReplicaOptions {
  url: string;
  protocol: EngineProtocol;
  key?: string | undefined;
  /**
   * Milliseconds between two health checks of a replica that is generating, and the time limit of a check. Default:
   * 10,000.
   */
  healthEvery?: number | undefined;
}

/** One inference server. */
export interface Replica {
  url: string;
  isUp(): boolean;
  /** Checks its health if it was unhealthy and the next check is due. */
  look(): Promise<void>;
  /**
   * Generates an action with exactly these weights, and loads them if needed. Throws ENGINE_FAILED, ENGINE_REFUSED, and
   * the signal's reason.
   */
  generate(
    weights: ServedWeights,
    action: EngineAction,
    signal: AbortSignal,
    onBegin?: () => void,
  ): Promise<EngineAnswer>;
  /** Loads weights in advance. */
  load(weights: ServedWeights, signal: AbortSignal): Promise<void>;
}

/** The conversation does not fit the server's context, which may be shorter than the model's. */
class NoRoom extends Error {}

/** Consecutive failed health checks after which a replica counts as dead. */
const looksBeforeDead = 3;

/** Milliseconds until the next check of an unhealthy replica. The pause doubles each time, up to the longest. */
const [firstPause, longestPause] = [250, 15_000];

/** The number of adapters to keep loaded: the newest, and those of trajectories that began earlier. */
const adaptersKept = 4;

/** Opens a replica in an unknown state. */
export function openReplica({ url, protocol, key, healthEvery = 10_000 }: ReplicaOptions): Replica {
  const bases = new Map<string, string>();
  const adapters = new Map<string, { loading: Promise<void>; users: number }>();
  const open = new Set<AbortController>();
  let up = true;
  let pause = firstPause;
  let lookAt = 0;
  let looking: Promise<void> | undefined;
  let watching: NodeJS.Timeout | undefined;

  const fail = (reason: string) => new EverturnError("ENGINE_FAILED", { engine: protocol.name, url, reason });

  const askWith =
    (signal: AbortSignal): Ask =>
    async (method, path, body) => {
      const asking = { method, url: `${url.replace(/\/+$/, "")}${path}`, body, key, signal };
      const reply = await askServer(asking).catch((error: unknown) => {
        if (!(error instanceof NoReply)) throw error;
        throw fail(`gave no whole answer to ${path}: ${error.message}`);
      });
      const { status } = reply;
      if (status >= 200 && status < 300) return reply.body;
      if (exceedsContext(reply)) throw new NoRoom();
      const said = `answered ${path} with status ${status}: ${shown(reply.body)}`;
      if (status >= 500 || [408, 425, 429].includes(status)) throw fail(said);
      throw new EverturnError("ENGINE_REFUSED", { engine: protocol.name, url, reason: said });
    };

  const askAlways = askWith(new AbortController().signal);

  const gate = versionGate({
    isInForce: async (label) => (await protocol.label(askAlways)) === label,
    change: async (label) => {
      adapters.clear(); // a server drops adapters together with their base weights
      await protocol.loadWeights(askAlways, bases.get(label) ?? "", label);
    },
  });

  /** The replica may have restarted, so its state has to be read again. */
  const doubt = () => {
    gate.forget();
    adapters.clear();
    up = false;
    lookAt = performance.now();
  };

  const isWell = async () => {
    const reply = await askServer({
      method: "GET" as const,
      url: `${url.replace(/\/+$/, "")}${protocol.health}`,
      key,
      signal: AbortSignal.timeout(healthEvery),
    }).catch(() => undefined);
    return reply?.status === 200;
  };

  const look = async () => {
    if (up || performance.now() < lookAt) return;
    looking ??= isWell().then((well) => {
      looking = undefined;
      up = well;
      pause = well ? firstPause : Math.min(longestPause, pause * 2);
      lookAt = performance.now() + pause;
    });
    await looking;
  };

  /** Checks the replica's health during requests, to notice one that stopped responding. */
  const watch = () => {
    let missed = 0;
    let asking = false;
    watching ??= setInterval(async () => {
      if (asking) return;
      asking = true;
      missed = (await isWell()) ? 0 : missed + 1;
      asking = false;
      if (missed < looksBeforeDead) return;
      missed = 0;
      doubt();
      for (const one of open)
        one.abort(fail(`is not well: it left ${looksBeforeDead} looks at its health unanswered`));
    }, healthEvery);
    watching.unref();
  };

  const unwatch = () => {
    if (open.size > 0) return;
    clearInterval(watching);
    watching = undefined;
  };

  /** Uses an adapter, which stays loaded meanwhile. */
  const withAdapter = async <Result>(
    ask: Ask,
    { adapter }: ServedWeights,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    if (adapter === undefined) return work();
    const { name, folder } = adapter;
    const held = adapters.get(name) ?? { loading: protocol.loadAdapter(ask, folder, name), users: 0 };
    adapters.delete(name);
    adapters.set(name, held); // by recency of use
    held.users += 1;
    try {
      await held.loading.catch((error: unknown) => {
        if (adapters.get(name) === held) adapters.delete(name);
        throw error;
      });
      const idle = [...adapters].filter(([, { users }]) => users === 0);
      for (const [old] of idle.slice(0, Math.max(0, adapters.size - adaptersKept))) {
        adapters.delete(old);
        await protocol.unloadAdapter(ask, old).catch(() => {}); // the server may have lost it
      }
      return await work();
    } finally {
      held.users -= 1;
    }
  };

  /** Uses loaded weights. After a failure, the replica's state counts as unknown. */
  const under = async <Result>(
    weights: ServedWeights,
    signal: AbortSignal,
    work: (ask: Ask) => Promise<Result>,
  ): Promise<Result> => {
    const { base } = weights;
    bases.set(base.label, base.folder);
    const own = new AbortController();
    const either = AbortSignal.any([signal, own.signal]);
    open.add(own);
    watch();
    try {
      const ask = askWith(either);
      return await gate.run(base.label, either, () => withAdapter(ask, weights, () => work(ask)));
    } catch (error) {
      if (!signal.aborted) doubt();
      throw error;
    } finally {
      open.delete(own);
      unwatch();
    }
  };

  return {
    url,
    isUp: () => up,
    look,
    load: (weights, signal) => under(weights, signal, async () => {}),
    generate: (weights, action, signal, onBegin) =>
      under(weights, signal, async (ask) => {
        onBegin?.();
        const asked = { ...action, adapter: weights.adapter?.name };
        const answer = await protocol.generate(ask, asked).catch((error: unknown) => {
          if (error instanceof NoRoom) return undefined;
          throw error;
        });
        if (answer === undefined) return { tokens: [], logprobs: [], finish: "length" };
        const problem = problemOf(answer, action, weights.base.label);
        if (problem !== undefined) throw fail(problem);
        return answer;
      }),
  };
}

/** Returns why an answer is unacceptable; undefined if it is acceptable. */
function problemOf(
  { tokens, logprobs, finish, labels = [] }: EngineAnswer,
  { sampling }: EngineAction,
  label: string,
): string | undefined {
  if (finish === "abort") return "ended an action before its time";
  const other = labels.find((one) => one !== label);
  if (other !== undefined) return `wrote with the weights “${other}” where “${label}” were asked for`;
  if (tokens.length === 0 || tokens.length > sampling.maxTokens)
    return `wrote ${tokens.length} tokens where 1 to ${sampling.maxTokens} were asked for`;
  if (!areLogProbabilities(logprobs, tokens.length)) return "did not give one log-probability for each token";
  return undefined;
}

function shown(body: unknown): string {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return text.slice(0, 300);
}
