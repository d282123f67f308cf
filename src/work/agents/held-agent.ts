import { EverturnError } from "../../base/errors/everturn-error.ts";
import type {
  ContinueAgentInput,
  ContinueAgentResult,
  RunAgentInput,
  RunAgentResult,
  SessionAnswer,
  SessionRequest,
} from "../../contracts/session.ts";
import type { FollowedConversation } from "./trajectory-session.ts";

/** The trajectory of an agent, as the agent's worker sees it. */
export interface Follower {
  /** Answers a request of the agent. */
  ask(request: SessionRequest): Promise<SessionAnswer>;
  /** Aborts when the agent should end. */
  signal: AbortSignal;
  /** Receives what the agent waits for, or undefined when it no longer waits. */
  report(waiting: string | undefined): void;
}

/** Starts the agent of a trajectory. */
export type StartAgent = (
  input: RunAgentInput,
  follower: Follower,
) => Promise<{ session: Pick<FollowedConversation, "requestAfter">; over: Promise<RunAgentResult> }>;

/** An agent whose requests wait until its trajectory fetches them. */
export interface HeldAgent {
  /**
   * Returns the agent's next request, its end, or `isBusy` after `busyAfter` milliseconds. Requests of turns that are
   * recorded but not among the trajectory's `turns` come first. Throws the agent's failure and the signal's reason.
   */
  next(
    given: Pick<ContinueAgentInput, "turns" | "answered">,
    signal: AbortSignal,
    busyAfter: number,
  ): Promise<ContinueAgentResult>;
  /** Passes its waiting and later requests to a follower. Returns how it ends. */
  follow(follower: Follower): Promise<RunAgentResult>;
  hasFailed(): boolean;
  /** Ends it, and waits until it has ended. */
  end(): Promise<void>;
}

interface Waiting {
  request: SessionRequest;
  answer: PromiseWithResolvers<SessionAnswer>;
}

/** Starts the agent of a trajectory and holds its requests. */
export function holdAgent(start: StartAgent, input: RunAgentInput): HeldAgent {
  const trajectory = input.place.id;
  /** Its requests without an action, by key, in the order of arrival. */
  const waiting = new Map<string, Waiting>();
  /** Actions for requests that it has not sent (again) yet. */
  const early = new Map<string, SessionAnswer>();
  const ending = new AbortController();
  let session: Pick<FollowedConversation, "requestAfter"> | undefined;
  let ended: { result: RunAgentResult } | { error: unknown } | undefined;
  let follower: Follower | undefined;
  let waitsFor: string | undefined;
  let change = Promise.withResolvers<void>();

  function changed(): void {
    change.resolve();
    change = Promise.withResolvers();
  }

  async function ask(request: SessionRequest): Promise<SessionAnswer> {
    if (follower !== undefined) return follower.ask(request);
    const known = early.get(request.key);
    if (known !== undefined) return known;
    const answer = Promise.withResolvers<SessionAnswer>();
    waiting.set(request.key, { request, answer });
    changed();
    return answer.promise;
  }

  function onAnswer({ key, answer }: NonNullable<ContinueAgentInput["answered"]>): void {
    const request = waiting.get(key);
    waiting.delete(key);
    if (request === undefined) early.set(key, answer);
    else request.answer.resolve(answer);
  }

  function refuseWaiting(): void {
    for (const { answer } of waiting.values())
      answer.reject(new EverturnError("SESSION_ENDED", { trajectory }));
    waiting.clear();
  }

  async function run(): Promise<RunAgentResult> {
    try {
      const report = (text: string | undefined) => {
        waitsFor = text;
        follower?.report(text);
      };
      const agent = await start(input, { ask, signal: ending.signal, report });
      session = agent.session;
      changed();
      const result = await agent.over;
      ended = { result };
      return result;
    } catch (error) {
      ended = { error };
      throw error;
    } finally {
      refuseWaiting();
      changed();
    }
  }

  const over = run();
  over.catch(() => {}); // `next` and `follow` throw it

  return {
    next: async ({ turns, answered }, signal, busyAfter) => {
      if (answered !== undefined) onAnswer(answered);
      let isBusy = false;
      const limit = setTimeout(() => {
        isBusy = true;
        changed();
      }, busyAfter);
      signal.addEventListener("abort", changed);
      try {
        for (;;) {
          signal.throwIfAborted();
          const [first] = waiting.values();
          const request = session?.requestAfter(turns) ?? first?.request;
          if (request !== undefined) return { request };
          if (ended !== undefined) {
            if ("error" in ended) throw ended.error;
            return { ended: ended.result };
          }
          if (isBusy) return { isBusy: true };
          await change.promise;
        }
      } finally {
        clearTimeout(limit);
        signal.removeEventListener("abort", changed);
      }
    },
    follow: (by) => {
      follower = by;
      for (const { request, answer } of waiting.values()) by.ask(request).then(answer.resolve, answer.reject);
      waiting.clear();
      by.report(waitsFor);
      const stop = () => ending.abort(by.signal.reason);
      if (by.signal.aborted) stop();
      else by.signal.addEventListener("abort", stop, { once: true });
      return over;
    },
    hasFailed: () => ended !== undefined && "error" in ended,
    end: async () => {
      refuseWaiting();
      ending.abort(new EverturnError("SESSION_ENDED", { trajectory }));
      await over.catch(() => {});
    },
  };
}
