import {
  ActivityCancellationType,
  CancellationScope,
  condition,
  defineUpdate,
  scheduleActivity,
  setHandler,
} from "@temporalio/workflow";
import type {
  RunAgentInput,
  RunAgentResult,
  SessionAnswer,
  SessionRequest,
} from "../src/contracts/session.ts";
import type { TrajectoryInput } from "../src/contracts/trajectory.ts";
import { failure } from "./failure.ts";
import { heartbeatTimeout } from "./schedule.ts";

/** A request that waits for its action. */
export interface WaitingRequest {
  request: SessionRequest;
  answer(answer: SessionAnswer): void;
}

/**
 * An agent's conversation with the policy in one trajectory. The agent runs as an activity, and its requests
 * are workflow updates.
 */
export interface AgentSession {
  /**
   * Returns the next request in order of arrival, or undefined when the agent has ended. The first call
   * starts the agent.
   */
  next(): Promise<WaitingRequest | undefined>;
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
const attempts = 100;

/** Returns the session of a trajectory whose loop waits for requests. It costs nothing for other loops. */
export function agentSession({ place, source, queues, loop }: TrajectoryInput): AgentSession {
  /** Requests that have no action yet, in order. */
  const open = new Map<SessionRequest, { answer(answer: SessionAnswer): void; refuse(error: Error): void }>();
  const untaken: SessionRequest[] = [];
  let scope: CancellationScope | undefined;
  let running: Promise<void> | undefined;
  let ended: { result: RunAgentResult } | { error: unknown } | undefined;
  let closed: "ended" | "moved" | undefined;

  const refused = (how: "ended" | "moved") =>
    failure(how === "moved" ? "SESSION_MOVED" : "SESSION_ENDED", { trajectory: place.id });

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

  async function run(): Promise<void> {
    try {
      const input: RunAgentInput = { place, source };
      const result = await scheduleActivity<RunAgentResult>("run-agent", [input], {
        taskQueue: queues.tools,
        heartbeatTimeout,
        startToCloseTimeout: "24 hours",
        cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        retry: {
          initialInterval: "100ms",
          backoffCoefficient: 2,
          maximumInterval: "2s",
          maximumAttempts: attempts,
        },
        summary: loop.plugin,
      });
      ended = { result };
    } catch (error) {
      ended = { error };
    }
  }

  return {
    next: async () => {
      if (running === undefined) {
        scope = new CancellationScope();
        running = scope.run(run);
      }
      await condition(() => untaken.length > 0 || ended !== undefined);
      const request = untaken.shift();
      if (request !== undefined) {
        const answer = (given: SessionAnswer) => {
          open.get(request)?.answer(given);
          open.delete(request);
        };
        return { request, answer };
      }
      if (ended !== undefined && "error" in ended) throw ended.error;
      return undefined;
    },
    isBegun: () => running !== undefined,
    ending: () => (ended !== undefined && "result" in ended ? ended.result : undefined),
    stop: async ({ moved } = { moved: false }) => {
      closed = moved ? "moved" : "ended";
      for (const { refuse } of open.values()) refuse(refused(closed));
      open.clear();
      scope?.cancel();
      await running;
    },
  };
}
