import { randomUUID } from "node:crypto";
import { availableParallelism, loadavg } from "node:os";
import { inspect } from "node:util";
import { sharedPromises } from "../../base/async/shared-promises.ts";
import { EverturnError, isEverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { EndpointProblem } from "../../chat/openai/endpoint-problem.ts";
import { type Endpoint, startEndpoint } from "../../chat/openai/endpoint-server.ts";
import { HttpProblem } from "../../chat/openai/http-problem.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { ResolvedLoop } from "../../contracts/plan.ts";
import type { TrajectoryPlace } from "../../contracts/trajectory.ts";
import type { PluginHostObserver } from "../../plugin/host/plugin-hosts.ts";
import { createSlots, type Slots } from "../tools/slots.ts";
import type { ToolHost } from "../tools/tool-host.ts";
import { type AgentPool, agentPool } from "./agent-pool.ts";
import { runAgentProcess } from "./agent-process.ts";
import { type AgentSettings, agentSettings } from "./agent-settings.ts";
import type { Patience } from "./kept-agent.ts";
import { outOfTime } from "./out-of-time.ts";
import { recordedCallPaths } from "./recorded-call-paths.ts";
import { remedy, sharedKey } from "./shared-environment.ts";
import type { AgentConversation } from "./trajectory-session.ts";

type Loop = Pick<ResolvedLoop, "name" | "config">;

interface RunOptions {
  loop: Loop;
  /** The most trajectories that run at once. */
  trajectories: number;
  place: TrajectoryPlace;
  task: Task;
  session: AgentConversation;
  /** The service that the agent depends on, if the pipeline names one. Its breaker pauses agents too. */
  host: ToolHost | undefined;
  signal: AbortSignal;
  /** Reports what the agent waits for. Undefined when it no longer waits. */
  report(waiting: string | undefined): void;
}

/** A trajectory whose agent runs. */
interface AgentRun {
  conversation: AgentConversation;
  /** The time that the agent's requests wait for their answers. */
  waiting: ReturnType<typeof stopwatch>;
}

/** Clients give up at 403, but retry after 409 and 5xx. */
function ended(): EndpointProblem {
  return new EndpointProblem(403, "The trajectory has ended and accepts no more requests.", {
    code: "session_ended",
  });
}

function unknownTrajectory(): EndpointProblem {
  return new EndpointProblem(
    401,
    `This key is the same for all trajectories of a kept agent, and only \`fetch\` replaces it: ${remedy}.`,
    { code: "invalid_api_key" },
  );
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
export function agentHost(
  observer: PluginHostObserver,
  log: (text: string) => void,
  patience?: Patience,
): AgentHost {
  const sessions = new Map<string, AgentRun>();
  const failures = new Map<string, number>();
  const endpoints = sharedPromises<Endpoint>();
  const slots = new Map<string, Slots>();
  const pools = sharedPromises<AgentPool>();

  function sessionOf(key: string): AgentRun {
    const known = sessions.get(key);
    if (known === undefined) throw ended();
    return known;
  }

  function slotsOf(loop: Loop, { concurrency }: AgentSettings): Slots {
    const known = slots.get(agentKey(loop)) ?? createSlots(concurrency);
    slots.set(agentKey(loop), known);
    return known;
  }

  /** The problem that an agent reads. It becomes a part of the reason if the agent fails. */
  function problemOf(error: unknown): unknown {
    if (error instanceof HttpProblem) return error;
    if (isEverturnError(error) && error.code === "SESSION_ENDED") return ended();
    log(`an agent's request failed: ${inspect(error)}`);
    const cause = error instanceof Error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : "";
    return new EndpointProblem(500, `The policy can't be asked: ${messageOf(error)}${cause}`);
  }

  const endpoint = () =>
    endpoints.get("", () =>
      startEndpoint({
        models: ["policy"],
        log,
        others: recordedCallPaths((key) => sessionOf(key).conversation),
        takesImages: true,
        authenticate: (key = "") => {
          if (key === sharedKey) throw unknownTrajectory();
          return sessions.has(key) ? key : undefined;
        },
        answer: async (key, request, asked) => {
          const session = sessionOf(key);
          session.waiting.begin();
          try {
            return await session.conversation.answer(request, `${asked.key}/${asked.occurrence}`);
          } catch (error) {
            throw problemOf(error);
          } finally {
            session.waiting.end();
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

  function poolOf(loop: Loop, settings: AgentSettings): Promise<AgentPool> | undefined {
    const { mode, module } = settings;
    if (mode === "process" || module === undefined) return undefined;
    return pools.get(agentKey(loop), async () => {
      return agentPool({
        agent: loop.name,
        settings,
        module,
        endpoint: await endpoint(),
        observer,
        log,
        patience,
      });
    });
  }

  /** One attempt of an agent, once the worker has room for it. */
  async function attempt(
    { loop, place, task, session: conversation, signal, report }: RunOptions,
    settings: AgentSettings,
  ): Promise<string> {
    const places = slotsOf(loop, settings);
    if (places.isFull()) report(`room for another of the worker's ${settings.concurrency} agents`);
    const giveBack = await places.take(signal);
    report(undefined);
    const key = `everturn-${randomUUID()}`;
    const waiting = stopwatch();
    sessions.set(key, { conversation, waiting });
    const timeUp = (said: string) => {
      const [load = 0] = loadavg();
      const reason = outOfTime({
        limit: settings.timeout / 1000,
        waited: waiting.seconds(),
        load: load / availableParallelism(),
        said,
      });
      return new EverturnError("AGENT_FAILED", { agent: loop.name, reason });
    };
    try {
      const { url } = await endpoint();
      const pool = await poolOf(loop, settings);
      return pool === undefined
        ? await runAgentProcess({
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
            timeUp,
            observer,
          })
        : await pool.run({ task, trajectory: place.id, key }, timeUp, signal);
    } finally {
      sessions.delete(key);
      (await endpoint()).forget(key);
      giveBack();
    }
  }

  return {
    run: async (options) => {
      const { loop, trajectories, place, host, signal, report } = options;
      const settings = agentSettings(loop.name, loop.config, process.env, trajectories);
      const work = () => attempt(options, settings);
      try {
        const answer =
          host === undefined
            ? await work()
            : await host.call(work, { slots: undefined, signal, onWait: report });
        failures.delete(place.id);
        return answer;
      } catch (error) {
        throw failed(place, loop.name, settings.attempts, error);
      }
    },
    close: async () => {
      for (const opened of pools.all()) await (await opened).close();
      for (const opened of endpoints.all()) await (await opened).close();
    },
  };
}

/** Distinguishes the loops of a pipeline whose agents differ. */
function agentKey({ name, config }: Loop): string {
  return JSON.stringify([name, config]);
}

/** Measures how long at least one of several overlapping actions is under way. */
function stopwatch(): { begin(): void; end(): void; seconds(): number } {
  let [underWay, since, total] = [0, 0, 0];
  const milliseconds = () => total + (underWay > 0 ? performance.now() - since : 0);
  return {
    begin: () => {
      if (underWay++ === 0) since = performance.now();
    },
    end: () => {
      total = underWay === 1 ? milliseconds() : total;
      underWay--;
    },
    seconds: () => milliseconds() / 1000,
  };
}
