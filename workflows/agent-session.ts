import {
  ActivityCancellationType,
  CancellationScope,
  condition,
  defineUpdate,
  scheduleActivity,
  setHandler,
  sleep,
} from "@temporalio/workflow";
import { defined } from "../src/base/records/defined.ts";
import type {
  ContinueAgentInput,
  RunAgentInput,
  RunAgentResult,
  SessionAnswer,
  SessionRequest,
} from "../src/contracts/session.ts";
import type { LoopBinding, TrajectoryInput } from "../src/contracts/trajectory.ts";
import { failure } from "./failure.ts";
import { heartbeatTimeout, isServedHere, schedule } from "./schedule.ts";
import { isGeneratedHere } from "./trajectory-task.ts";

/** A request that waits for its action. */
export interface WaitingRequest {
  request: SessionRequest;
  /** Answers the request with this key. If that is another request, this one waits again. */
  answer(key: string, answer: SessionAnswer): void;
}

/**
 * An agent's conversation with the policy in one trajectory. The agent runs as an activity, and its requests are
 * workflow updates. If the agent stays loaded and the worker of this workflow does everything that the trajectory
 * needs, local activities fetch the requests from the agent, so that the server is not involved in each turn. From
 * the first time that the agent does not ask for a while, its requests are updates.
 */
export interface AgentSession {
  /**
   * Returns the next request in order of arrival, or undefined when the agent has ended. The first call
   * starts the agent. `turns` is the trajectory's number of turns.
   */
  next(loop: LoopBinding, turns: number): Promise<WaitingRequest | undefined>;
  /** Whether the loop has waited for a request. */
  isBegun(): boolean;
  /** How the agent ended. Undefined while it runs. */
  ending(): RunAgentResult | undefined;
  /**
   * Ends the agent and rejects its waiting and later requests. `moved` means that the agent may soon repeat
   * them to the next workflow execution.
   */
  stop(options?: { moved: boolean }): Promise<void>;
}

/** An agent's request for an action (src/work/agents/trajectory-session.ts). */
const generate = defineUpdate<SessionAnswer, [SessionRequest], "generate">("generate");

/**
 * Attempts at running one agent. Its activity counts the agent's own failures, so the other attempts replace
 * workers that died.
 */
const retry = { initialInterval: 100, backoffCoefficient: 2, maximumInterval: 2000, maximumAttempts: 100 };

/**
 * The characters of requests and actions after which a new workflow task begins, because the server accepts at most
 * 4 MB of one.
 */
const largestTask = 300_000;

/** Returns the session of a trajectory whose loop waits for requests. It costs nothing for other loops. */
export function agentSession(input: TrajectoryInput): AgentSession {
  const { place, source, queues } = input;
  const requests = updateRequests(place.id);
  let scope: CancellationScope | undefined;
  let running: Promise<void> | undefined;
  /** Whether local activities fetch the requests. Undefined until the loop waits for one. */
  let isHeld: boolean | undefined;
  /** Characters of requests and actions in the current workflow task. */
  let characters = 0;
  /** The newest answer, which the agent receives when it is continued. */
  let answered: ContinueAgentInput["answered"];
  let ended: { result: RunAgentResult } | { error: unknown } | undefined;

  /** Returns undefined when the agent has ended, or is busy. */
  async function fetched(turns: number): Promise<WaitingRequest | undefined> {
    if (characters >= largestTask) {
      await sleep(1); // ends the workflow task
      characters = 0;
    }
    const given = defined<ContinueAgentInput>({ place, source, turns, answered });
    const next = await schedule(queues, "continue-agent", given, { isQuick: true, retry });
    if ("request" in next) {
      const { request } = next;
      characters += JSON.stringify(request).length;
      const answer = (key: string, action: SessionAnswer) => {
        answered = { key, answer: action };
        characters += JSON.stringify(action).length;
      };
      return { request, answer };
    }
    if ("ended" in next) ended = { result: next.ended };
    else isHeld = false;
    return undefined;
  }

  async function run(plugin: string): Promise<void> {
    try {
      const given: RunAgentInput = { place, source };
      const result = await scheduleActivity<RunAgentResult>("run-agent", [given], {
        taskQueue: queues.tools,
        heartbeatTimeout,
        startToCloseTimeout: "24 hours",
        cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        retry,
        summary: plugin,
      });
      ended = { result };
    } catch (error) {
      ended = { error };
    }
  }

  return {
    next: async (loop, turns) => {
      isHeld ??= isKept(loop) && isGeneratedHere(input) && isServedHere("tools", queues);
      if (isHeld) {
        requests.close("moved");
        const request = await fetched(turns);
        if (request !== undefined || ended !== undefined) return request;
        requests.open();
      }
      if (running === undefined) {
        scope = new CancellationScope();
        running = scope.run(() => run(loop.plugin));
      }
      await condition(() => requests.isWaiting() || ended !== undefined);
      const request = requests.take();
      if (request === undefined && ended !== undefined && "error" in ended) throw ended.error;
      return request;
    },
    isBegun: () => isHeld !== undefined,
    ending: () => (ended !== undefined && "result" in ended ? ended.result : undefined),
    stop: async ({ moved } = { moved: false }) => {
      requests.close(moved ? "moved" : "ended");
      scope?.cancel();
      await running;
      if (isHeld !== true || ended !== undefined) return;
      isHeld = false;
      await CancellationScope.nonCancellable(() =>
        schedule(queues, "end-agent", { trajectory: place.id }, { isQuick: true }),
      );
    },
  };
}

/** Whether the agent stays loaded, so that it needs no time to start. */
function isKept({ config }: LoopBinding): boolean {
  return config.mode === "thread" || config.mode === "pool";
}

/** The requests of an agent that arrive as updates. */
interface UpdateRequests {
  isWaiting(): boolean;
  /** Returns the next request in order of arrival. */
  take(): WaitingRequest | undefined;
  /** Rejects waiting and later requests. */
  close(how: "ended" | "moved"): void;
  /** Accepts requests again. */
  open(): void;
}

/** Handles the requests of a trajectory's agent. */
function updateRequests(trajectory: string): UpdateRequests {
  /** Requests that have no action yet, in order. */
  const open = new Map<SessionRequest, { answer(answer: SessionAnswer): void; refuse(error: Error): void }>();
  let untaken: SessionRequest[] = [];
  let closed: "ended" | "moved" | undefined;

  const refused = (how: "ended" | "moved") =>
    failure(how === "moved" ? "SESSION_MOVED" : "SESSION_ENDED", { trajectory });

  setHandler<SessionAnswer, [SessionRequest], typeof generate>(
    generate,
    (request: SessionRequest) =>
      new Promise<SessionAnswer>((answer, refuse) => {
        open.set(request, { answer, refuse });
        untaken.push(request);
      }),
    {
      description: "A request of the trajectory's agent. Everturn's endpoint sends it.",
      validator: () => {
        if (closed !== undefined) throw refused(closed);
      },
    },
  );

  return {
    isWaiting: () => untaken.length > 0,
    take: () => {
      const request = untaken.shift();
      if (request === undefined) return undefined;
      const answer = (key: string, given: SessionAnswer) => {
        if (key !== request.key) untaken.unshift(request);
        const answering = [...open.keys()].find((one) => one.key === key);
        if (answering === undefined) return;
        untaken = untaken.filter((one) => one !== answering);
        open.get(answering)?.answer(given);
        open.delete(answering);
      };
      return { request, answer };
    },
    close: (how) => {
      closed = how;
      for (const { refuse } of open.values()) refuse(refused(how));
      open.clear();
      untaken = [];
    },
    open: () => {
      closed = undefined;
    },
  };
}
