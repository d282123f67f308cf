import { randomUUID } from "node:crypto";
import { sharedPromises } from "../../base/async/shared-promises.ts";
import { EverturnError, isEverturnError } from "../../base/errors/everturn-error.ts";
import { EndpointProblem } from "../../chat/openai/endpoint-problem.ts";
import { type Endpoint, startEndpoint } from "../../chat/openai/endpoint-server.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { ResolvedLoop } from "../../contracts/plan.ts";
import type { TrajectoryPlace } from "../../contracts/trajectory.ts";
import type { PluginHostObserver } from "../../plugin/host/plugin-hosts.ts";
import { createSlots, type Slots } from "../tools/slots.ts";
import { runAgentProcess } from "./agent-process.ts";
import { agentSettings } from "./agent-settings.ts";
import { recordedCallPaths } from "./recorded-call-paths.ts";
import type { AgentConversation } from "./trajectory-session.ts";

interface RunOptions {
  loop: ResolvedLoop;
  place: TrajectoryPlace;
  task: Task;
  session: AgentConversation;
  signal: AbortSignal;
  /** Reports what the agent waits for. Undefined when it no longer waits. */
  report(waiting: string | undefined): void;
}

/** Clients give up at 403, but retry after 409 and 5xx. */
function ended(): EndpointProblem {
  return new EndpointProblem(403, "The trajectory has ended and accepts no more requests.", {
    code: "session_ended",
  });
}

/** The agents of a worker's trajectories, and the endpoint through which they reach the policy. */
export interface AgentHost {
  /**
   * Runs an agent to its end. Returns its answer, or "" if it gave none. Throws AGENT_FAILED, AGENT_GAVE_UP.
   */
  run(options: RunOptions): Promise<string>;
  close(): Promise<void>;
}

/** Returns an agent host without agents. The first agent starts the endpoint. */
export function agentHost(observer: PluginHostObserver, log: (text: string) => void): AgentHost {
  const sessions = new Map<string, AgentConversation>();
  const failures = new Map<string, number>();
  const endpoints = sharedPromises<Endpoint>();
  let slots: Slots | undefined;

  function sessionOf(key: string): AgentConversation {
    const known = sessions.get(key);
    if (known === undefined) throw ended();
    return known;
  }

  const endpoint = () =>
    endpoints.get("", () =>
      startEndpoint({
        models: ["policy"],
        log,
        others: recordedCallPaths(sessionOf),
        takesImages: true,
        authenticate: (key = "") => (sessions.has(key) ? key : undefined),
        answer: async (session, request, { key, occurrence }) => {
          try {
            return await sessionOf(session).answer(request, `${key}/${occurrence}`);
          } catch (error) {
            throw isEverturnError(error) && error.code === "SESSION_ENDED" ? ended() : error;
          }
        },
      }),
    );

  /** Counts only this worker's attempts. Failures of other workers' processes cost nothing here. */
  function failed(place: TrajectoryPlace, agent: string, attempts: number, error: unknown): unknown {
    if (!isEverturnError(error) || error.code !== "AGENT_FAILED") return error;
    const times = (failures.get(place.id) ?? 0) + 1;
    failures.set(place.id, times);
    if (times < attempts) return error;
    failures.delete(place.id);
    const { reason } = error.params;
    const said = { agent, times: times === 1 ? "once" : `${times} times`, reason: String(reason) };
    return new EverturnError("AGENT_GAVE_UP", said, { cause: error });
  }

  return {
    run: async ({ loop, place, task, session, signal, report }) => {
      const settings = agentSettings(loop.name, loop.config, process.env);
      slots ??= createSlots(settings.concurrency);
      if (slots.isFull()) report(`room for another of the worker's ${settings.concurrency} agents`);
      const giveBack = await slots.take(signal);
      report(undefined);
      const key = `everturn-${randomUUID()}`;
      sessions.set(key, session);
      try {
        const { url } = await endpoint();
        const answer = await runAgentProcess({
          agent: loop.name,
          settings,
          environment: {
            OPENAI_BASE_URL: url,
            OPENAI_API_KEY: key,
            OPENAI_AGENTS_DISABLE_TRACING: "1",
            EVERTURN_TRAJECTORY: place.id,
          },
          input: JSON.stringify(task),
          signal,
          observer,
        });
        failures.delete(place.id);
        return answer;
      } catch (error) {
        throw failed(place, loop.name, settings.attempts, error);
      } finally {
        sessions.delete(key);
        (await endpoint()).forget(key);
        giveBack();
      }
    },
    close: async () => {
      for (const opened of endpoints.all()) await (await opened).close();
    },
  };
}
