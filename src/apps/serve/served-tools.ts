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
import { createHost, type ToolHost } from "../../work/tools/host.ts";
import { functionOf, type OpenTool, openTool } from "../../work/tools/open-tool.ts";
import { toolThread } from "../../work/tools/tool-thread.ts";
import { holdServedInstances } from "./instances.ts";

/** What is served, as a pipeline says it. */
export interface ServedPlan {
  tools: readonly ResolvedTool[];
  hosts: Record<string, HostSettings>;
  /** How much of an observation is told, where a tool says nothing of it. */
  observations: ObservationLimit;
}

/** A call that a client asks for. */
export interface ToolRequest {
  /** Which instances it is made on: calls of the same name share them. */
  trajectory: string;
  function: string;
  arguments: JsonObject;
  /** Columns of the task that instances are made for. */
  task: Partial<Task>;
  /** The same in each attempt. */
  key: string;
}

/** What a client is told. */
export interface ServedAnswer extends Pick<CheckedResponse, "reward" | "metrics" | "media" | "error"> {
  /** What the model reads, cut to its limit. */
  text: string;
  /** There is nothing more to do. */
  done: boolean;
  /** Why it is none that may be made: no such function, arguments that break the schema, or the tool says so. */
  invalid?: string;
  /** The tool's infrastructure failed, in all its attempts. */
  failed?: string;
}

/** Tools that are called without a run: with its limits, time-outs, retries, hosts and instances. */
export interface ServedTools {
  functions: readonly OfferedFunction[];
  /** What became of a call; throws TOO_MANY_TRAJECTORIES, and the signal's reason at the end. */
  call(call: ToolRequest): Promise<ServedAnswer>;
  /** Frees what a trajectory holds, after its calls under way. */
  release(trajectory: string): Promise<void>;
  /** Trajectories that hold something. */
  count(): number;
  /** Gives up what is under way and frees everything. */
  close(): Promise<void>;
}

interface Options {
  /** Where what is held is noted. */
  folder: string;
  /** Trajectories at once. */
  limit: number;
  /** What was not called for so long is freed, ms. */
  idle: number;
  log: (text: string) => void;
}

interface Served {
  tool: OpenTool;
  resolved: ResolvedTool;
}

/** Starts the threads of tools. Throws PLUGIN_ENTRY_FAILED, PLUGIN_EXPORT_INVALID. */
export async function serveTools(
  { tools, hosts: settings, observations }: ServedPlan,
  { folder, limit, idle, log }: Options,
): Promise<ServedTools> {
  const closing = new AbortController();
  const { signal } = closing;
  const hosts = new Map<string, ToolHost>();
  const hostOf = (name: string): ToolHost => {
    const host = hosts.get(name) ?? createHost(name, settingsOfHost({ hosts: settings }, name), onChange);
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

  /** The end waits for it: a plugin's thread that is asked once more after its end would be started again. */
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

/** Why a call is tried again; undefined if it is not. */
function failureOf(error: unknown): string | undefined {
  const failure = callFailure(error);
  if (failure !== undefined) return failure.reason;
  const isThread = isEverturnError(error) && error.code === "PLUGIN_THREAD_ENDED";
  return isThread ? messageOf(error) : undefined;
}

function instanceOf(trajectory: string, { name }: OpenTool): string {
  return `${name} ${trajectory}`;
}

/** The task that an instance is made for: a plain one, with what the client says of it. */
function taskOf({ task }: ToolRequest): Task {
  return {
    data_source: "everturn-tools-serve",
    prompt: [{ role: "user", content: "" }],
    reward_model: { ground_truth: "" },
    ...task,
  };
}
