import { setTimeout as sleep } from "node:timers/promises";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { Endpoint } from "../../chat/openai/endpoint-server.ts";
import type { PluginHostObserver } from "../../plugin/host/plugin-hosts.ts";
import type { AgentModule, AgentSettings } from "./agent-settings.ts";
import { type KeptPlace, startAgentProcess, startAgentThread } from "./kept-place.ts";
import type { FromKept, KeptSession } from "./kept-protocol.ts";
import { type Output, outputTail } from "./output-tail.ts";

/** An agent whose module stays loaded in a thread or process, for one trajectory after the other. */
export interface KeptAgent {
  /**
   * Runs a trajectory. Returns the agent's answer, or "" if it gave none. `timeUp` returns the error for a trajectory
   * that exceeds the agent's time limit. Throws that error, the signal's reason, AGENT_FAILED, and AGENT_INTERRUPTED
   * if another trajectory ended the thread.
   */
  run(
    session: Omit<KeptSession, "number">,
    timeUp: (said: string) => Error,
    signal: AbortSignal,
  ): Promise<string>;
  /** The number of trajectories whose code still runs. */
  sessions(): number;
  /** Whether it takes more trajectories. */
  isUsable(): boolean;
  end(): Promise<void>;
}

/** What a kept agent is started with. */
export interface KeptAgentOptions {
  /** The agent's name in errors. */
  agent: string;
  settings: AgentSettings;
  module: AgentModule;
  endpoint: Pick<Endpoint, "url" | "ask">;
  observer: PluginHostObserver;
  patience: Patience;
  log: (text: string) => void;
}

/** Milliseconds. */
export interface Patience {
  /** A thread that does not respond for this long is replaced. */
  silence: number;
  /** A thread in which an ended trajectory still runs after this time takes no more trajectories. */
  leftover: number;
  /** The time limit for loading a module. A trajectory's own limit starts once it is loaded. */
  loading: number;
}

/** Milliseconds that a trajectory has to end after its abort. */
const grace = 2000;

interface KeptRun {
  trajectory: string;
  said: Output;
  settled: PromiseWithResolvers<string>;
  /** Whether a caller waits for it. */
  isAwaited: boolean;
}

/** Starts a thread or process, as the settings' mode says, that loads the agent. */
export function startKeptAgent({
  agent,
  settings,
  module,
  endpoint,
  observer,
  patience,
  log,
}: KeptAgentOptions): KeptAgent {
  const isThread = settings.mode === "thread";
  const kind = isThread ? "thread" : "process";
  const sessions = new Map<number, KeptRun>();
  /** The thread's requests that wait for a reply. */
  const requests = new Map<number, AbortController>();
  const loadingSaid = outputTail();
  const loaded = Promise.withResolvers<void>();
  let newest = 0;
  let [isLoaded, isUsable, hasEnded] = [false, true, false];
  let ending: Extract<FromKept, { type: "ending" }> | undefined;
  let isAnswered = true;
  let lastPong = Date.now();
  /** Why the place was ended, if it did not respond. */
  let silent: string | undefined;

  const failed = (reason: string) => new EverturnError("AGENT_FAILED", { agent, reason });
  const unusable = (reason: string) =>
    `${module.file} can't be loaded: ${reason}${remedyFor(isThread, reason)}${loadingSaid.text()}`;

  function settle(number: number, how: (session: KeptRun) => void): void {
    const session = sessions.get(number);
    if (session === undefined) return;
    sessions.delete(number);
    how(session);
    endIfRetired();
  }

  /** Ends a place that takes no more trajectories, once nobody waits for one. */
  function endIfRetired(): void {
    if (isUsable || hasEnded || [...sessions.values()].some((session) => session.isAwaited)) return;
    void place.end();
  }

  function retire(): void {
    isUsable = false;
    endIfRetired();
  }

  function giveUpLoading(reason: string): void {
    clearTimeout(loading);
    for (const { settled } of sessions.values()) settled.reject(failed(unusable(reason)));
    sessions.clear();
    retire();
  }

  function hear(message: FromKept): void {
    switch (message.type) {
      case "loaded":
        isLoaded = true;
        lastPong = Date.now();
        clearTimeout(loading);
        loaded.resolve();
        break;
      case "unusable":
        giveUpLoading(message.reason);
        break;
      case "ended":
        settle(message.session, ({ settled }) => settled.resolve(message.answer));
        break;
      case "failed":
        settle(message.session, ({ settled, said }) => {
          if (!isThread) isUsable = false; // the next attempt begins in a new process
          settled.reject(failed(`it threw ${message.reason}${said.text()}`));
        });
        break;
      case "said":
        for (const output of outputsOf(message.session)) output.add(message.text);
        break;
      case "ending":
        ending = message;
        break;
      case "request":
        void reply(message);
        break;
      case "left":
        requests.get(message.id)?.abort();
        break;
      case "pong":
        isAnswered = true;
        lastPong = Date.now();
        break;
    }
  }

  async function reply({ id, request }: Extract<FromKept, { type: "request" }>): Promise<void> {
    const leaving = new AbortController();
    requests.set(id, leaving);
    const given = await endpoint.ask(request, leaving.signal);
    requests.delete(id);
    if (!hasEnded) place.post({ type: "reply", id, reply: given });
  }

  /** A process has one trajectory at a time, which is the one that writes. */
  function outputsOf(number: number | undefined): Output[] {
    const known = number === undefined ? undefined : sessions.get(number);
    if (known !== undefined) return [known.said];
    if (!isLoaded) return [loadingSaid];
    return isThread ? [] : [...sessions.values()].map(({ said }) => said);
  }

  /** Fails the trajectory that ended the place. The others are repeated, and this attempt does not count. */
  function onEnd(reason: string, code: number | undefined): void {
    hasEnded = true;
    isUsable = false;
    clearInterval(looking);
    clearTimeout(loading);
    const lost = [...sessions];
    sessions.clear();
    const awaited = lost.filter(([, session]) => session.isAwaited);
    const [only] = awaited;
    const guilty = ending?.session ?? (lost.length === 1 ? only?.[0] : undefined);
    for (const [number, { settled, said }] of lost) {
      if (isLoaded && number !== guilty)
        settled.reject(new EverturnError("AGENT_INTERRUPTED", { agent, reason, place: kind }));
      else if (isLoaded && code === 0) settled.resolve("");
      else settled.reject(failed(`${reason}${loadingSaid.text()}${said.text()}`));
    }
    if (awaited.length > 0)
      log(`${agent}: its ${kind} ended with ${awaited.length} trajectories: ${reason}.`);
  }

  function look(): void {
    if (!isLoaded || sessions.size === 0) {
      lastPong = Date.now();
      return;
    }
    if (isAnswered) {
      isAnswered = false;
      place.post({ type: "ping" });
    }
    setImmediate(() => {
      if (Date.now() - lastPong < patience.silence || hasEnded) return; // the answer may have been waiting for this thread
      silent = `it blocked its thread for longer than ${patience.silence / 1000} s`;
      void place.end();
    });
  }

  const start = isThread ? startAgentThread : startAgentProcess;
  const place: KeptPlace = start({
    settings,
    module,
    baseURL: endpoint.url,
    observer,
    hear,
    onEnd: (reason, code) => onEnd(silent ?? reason, silent === undefined ? code : undefined),
  });
  const looking = setInterval(isThread ? look : () => {}, patience.silence / 6);
  looking.unref();
  const late = () => isLoaded || giveUpLoading(`importing it took longer than ${patience.loading / 1000} s`);
  const loading = setTimeout(() => setImmediate(late), patience.loading); // the answer may have been waiting for this thread
  loading.unref();

  return {
    sessions: () => sessions.size,
    isUsable: () => isUsable,
    run: async (given, timeUp, signal) => {
      signal.throwIfAborted();
      const number = ++newest;
      const settled = Promise.withResolvers<string>();
      const session: KeptRun = { trajectory: given.trajectory, said: outputTail(), settled, isAwaited: true };
      sessions.set(number, session);
      const stopped = Promise.withResolvers<never>();
      let limit: NodeJS.Timeout | undefined;
      void loaded.promise.then(() => {
        if (!session.isAwaited) return;
        limit = setTimeout(() => stopped.reject(timeUp(session.said.text())), settings.timeout);
      });
      const onAbort = () => stopped.reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      place.post({ type: "run", session: { ...given, number } });
      try {
        return await Promise.race([settled.promise, stopped.promise]);
      } finally {
        session.isAwaited = false;
        clearTimeout(limit);
        signal.removeEventListener("abort", onAbort);
        if (sessions.has(number)) await leave(number, session);
      }
    },
    end: async () => {
      isUsable = false;
      if (!hasEnded) await place.end();
    },
  };

  /** Aborts a trajectory that nobody waits for any more, and gives it time to end. */
  async function leave(number: number, session: KeptRun): Promise<void> {
    const over = session.settled.promise.catch(() => {});
    place.post({ type: "abort", session: number });
    await Promise.race([over, sleep(grace, undefined, { ref: false })]);
    if (!sessions.has(number)) return;
    if (!isThread) return retire();
    setTimeout(() => sessions.has(number) && retire(), patience.leftover).unref();
  }
}

/** What to do about a module that can't be loaded. */
function remedyFor(isThread: boolean, reason: string): string {
  if (!isThread || reason.startsWith("SyntaxError")) return "";
  return ". If it needs a process of its own (a native add-on, process.chdir()), set `mode: pool` or `mode: process`";
}
