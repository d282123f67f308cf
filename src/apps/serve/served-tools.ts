import { setTimeout as sleep } from "node:timers/promises";
import { oneAtATime } from "../../base/async/one-at-a-time.ts";
import { EverturnError, isEverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { suggestion } from "../../base/validation/nearest.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { HostSettings, ObservationLimit, OfferedFunction, ResolvedTool } from "../../contracts/plan.ts";
import { settingsOfHost } from "../../plan/pipeline/resolve/host-settings.ts";
import type { CheckedResponse } from "../../plugin/host/checked-response.ts";
import { toolFunctions, toolName } from "../../plugin/registry/tool-functions.ts";
import { callFailure } from "../../work/tools/call-failure.ts";
import { cutText } from "../../work/tools/cut-text.ts";
import { functionOf, type OpenTool, openTool } from "../../work/tools/open-tool.ts";
import { createToolHost, type ToolHost } from "../../work/tools/tool-host.ts";
import { toolThread } from "../../work/tools/tool-thread.ts";
import { holdServedInstances } from "./instances.ts";

/** The served tools, as in a pipeline. */
export interface ServedPlan {
  tools: readonly ResolvedTool[];
  hosts: Record<string, HostSettings>;
  /** The limit on observations for tools without their own. */
  observations: ObservationLimit;
}

/** A client's call. */
export interface ToolRequest {
  /** Selects the instances: calls with the same name share them. */
  trajectory: string;
  function: string;
  arguments: JsonObject;
  /** Columns of the task for which instances are created. */
  task: Partial<Task>;
  /** The same in each attempt. */
  key: string;
}

/** A client's answer. */
export interface ServedAnswer extends Pick<CheckedResponse, "reward" | "metrics" | "media" | "error"> {
  /** The text for the model, cut to its limit. */
  text: string;
  /** Whether the trajectory is over. */
  done: boolean;
  /** Why the call is not allowed: no such function, arguments that break the schema, or the tool's own reason. */
  invalid?: string;
  /** The failure of the tool's infrastructure, after all attempts. */
  failed?: string;
}

/** Tools that are called without a run, but with a run's limits, time-outs, retries, hosts and instances. */
export interface ServedTools {
  functions: readonly OfferedFunction[];
  /** Makes a call. Throws TOO_MANY_TRAJECTORIES, and the signal's reason at the end. */
  call(call: ToolRequest): Promise<ServedAnswer>;
  /** Releases a trajectory's instances, after its calls in progress. */
  release(trajectory: string): Promise<void>;
  /** The number of trajectories with instances. */
  count(): number;
  /** Abandons calls in progress and releases everything. */
  close(): Promise<void>;
}

interface Options {
  /** Where held resources are recorded. */
  folder: string;
  /** The most concurrent trajectories. */
  limit: number;
  /** How long a trajectory may be idle before its instances are released, in ms. */
  idle: number;
  log: (text: string) => void;
}

interface Served {
  tool: OpenTool;
  resolved: ResolvedTool;
}

/** Starts the threads of tools. Throws PLUGIN_ENTRY_FAILED and PLUGIN_EXPORT_INVALID. */
export async function serveTools(
  { tools, hosts: settings, observations }: ServedPlan,
  { folder, limit, idle, log }: Options,
): Promise<ServedTools> {
  const closing = new AbortController();
  const { signal } = closing;
  const hosts = new Map<string, ToolHost>();
  const hostOf = (name: string): ToolHost => {
    const host = hosts.get(name) ?? createToolHost(name, settingsOfHost({ hosts: settings }, name), onChange);
    hosts.set(name, host);
    return host;
  };
  const onChange = ({ host, state, reason }: { host: string; state: string; reason: string }) =>
    log(`the host ${host} is ${state} ${reason}`);
  const opening = await Promise.allSettled(
    tools.map(async (resolved): Promise<Served> => {
      const thread = await toolThread(resolved, toolName(resolved), log);
      return { resolved, tool: openTool(resolved, thread, hostOf(resolved.host)) };
    }),
  );
  const opened = opening.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const closeThreads = async () => {
    for (const { breaker } of hosts.values()) breaker.close();
    await Promise.all(opened.map(({ tool }) => tool.close()));
  };
  for (const one of opening) {
    if (one.status === "fulfilled") continue;
    await closeThreads();
    throw one.reason;
  }
  const owners = new Map(
    opened.flatMap((served) => [...served.tool.functions.keys()].map((name) => [name, served] as const)),
  );
  const instances = holdServedInstances(
    opened.map(({ tool }) => tool),
    { folder, limit, log },
  );
  const inTurn = oneAtATime();
  const sweeping = setInterval(
    () => {
      for (const trajectory of instances.idle(idle)) {
        log(`${trajectory} was not heard of for ${idle / 60_000} minutes, and is freed`);
        void release(trajectory);
      }
    },
    Math.min(idle, 60_000),
  ).unref();

  const releasing = new Set<Promise<void>>();

  /** Closing waits for this, because a request after the end of a plugin's thread would restart it. */
  async function release(trajectory: string): Promise<void> {
    const done = released(trajectory);
    releasing.add(done);
    try {
      await done;
    } finally {
      releasing.delete(done);
    }
  }

  async function released(trajectory: string): Promise<void> {
    const ends = opened
      .filter(({ tool }) => tool.isStateful)
      .map(({ tool }) => inTurn(instanceOf(trajectory, tool), async () => {}));
    await Promise.all(ends);
    await instances.release(trajectory);
  }

  async function answered(served: Served, call: ToolRequest): Promise<CheckedResponse> {
    const { tool, resolved } = served;
    const { slots, rate, maximumAttempts, gaveUp } = tool;
    for (let attempt = 1; ; attempt++) {
      try {
        return await tool.host.call(() => executed(tool, call, attempt), {
          slots,
          rate,
          signal,
          onWait: () => {},
        });
      } catch (error) {
        const reason = failureOf(error);
        if (reason === undefined || signal.aborted) throw error;
        if (attempt >= maximumAttempts)
          throw gaveUp(attempt === 1 ? "once" : `${attempt} times`, reason, error);
        const { initialInterval, backoffCoefficient, maximumInterval } = resolved.retry;
        const wait = Math.min(maximumInterval, initialInterval * backoffCoefficient ** (attempt - 1));
        await sleep(wait, undefined, { signal });
      }
    }
  }

  function executed(tool: OpenTool, call: ToolRequest, attempt: number): Promise<CheckedResponse> {
    const { trajectory, function: called, arguments: given, key } = call;
    const execution = {
      instance: trajectory,
      function: functionOf(tool, called).own,
      key,
      attempt,
      config: tool.config,
      isReplay: false,
      signal,
    };
    if (!tool.isStateful) return Promise.resolve(tool.plugin.execute(given, execution, undefined));
    const use = { trajectory, tool, task: taskOf(call), call, signal };
    return instances.use(use, async (state) => tool.plugin.execute(given, execution, state));
  }

  return {
    functions: opened.flatMap(({ resolved }) => [...toolFunctions(resolved)]),
    call: async (call) => {
      const served = owners.get(call.function);
      if (served === undefined) {
        const reason = `there is no tool ${call.function}. ${suggestion(call.function, [...owners.keys()], "Tools")}`;
        return { text: `error: ${reason}`, invalid: reason, done: false };
      }
      const { tool } = served;
      const problem = functionOf(tool, call.function).validate(call.arguments);
      if (problem !== undefined) return { text: `error: ${problem}`, invalid: problem, done: false };
      const turn = tool.isStateful ? instanceOf(call.trajectory, tool) : call.key;
      try {
        const { text, done = false, ...said } = await inTurn(turn, () => answered(served, call));
        return { ...said, text: cutText(text, { ...observations, ...tool.observations }), done };
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (isEverturnError(error) && error.code === "TOO_MANY_TRAJECTORIES") throw error;
        log(`${call.function}: ${messageOf(error)}`);
        return { text: "", failed: messageOf(error), done: true };
      }
    },
    release,
    count: () => instances.count(),
    close: async () => {
      clearInterval(sweeping);
      closing.abort(new EverturnError("SERVER_ENDS", {}));
      await Promise.allSettled(releasing);
      await instances.close();
      await closeThreads();
    },
  };
}

/** Why a call is retried; undefined if it is not. */
function failureOf(error: unknown): string | undefined {
  const failure = callFailure(error);
  if (failure !== undefined) return failure.reason;
  const isThread = isEverturnError(error) && error.code === "PLUGIN_THREAD_ENDED";
  return isThread ? messageOf(error) : undefined;
}

function instanceOf(trajectory: string, { name }: OpenTool): string {
  return `${name} ${trajectory}`;
}

/** The task for which an instance is created: a plain one, with the client's columns. */
function taskOf({ task }: ToolRequest): Task {
  return {
    data_source: "everturn-tools-serve",
    prompt: [{ role: "user", content: "" }],
    reward_model: { ground_truth: "" },
    ...task,
  };
}
