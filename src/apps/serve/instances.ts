import { createHash, randomUUID } from "node:crypto";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { killMarked, markVariable } from "../../base/processes/marked-processes.ts";
import { ownIdentity } from "../../base/processes/process-identity.ts";
import { defined } from "../../base/records/defined.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { ToolCreation } from "../../contracts/tool.ts";
import type { InstanceState } from "../../plugin/host/plugin-thread.ts";
import { type Lease, openLeases } from "../../work/tools/leases.ts";
import type { OpenTool } from "../../work/tools/open-tool.ts";
import type { Answered } from "../../work/tools/recorded-calls.ts";
import { recoverInstance } from "../../work/tools/recover-instance.ts";

/** A call that a trajectory's instance answered. */
interface ServedCall {
  /** The policy's name for the function. */
  function: string;
  arguments: JsonObject;
}

/** The user of an instance. */
export interface InstanceUse {
  trajectory: string;
  tool: OpenTool;
  /** Created for the trajectory's first call. */
  task: Task;
  call: ServedCall;
  signal: AbortSignal;
}

/** The instances of a trajectory by the tools' names. */
interface Holder {
  held: Map<string, Held>;
  usedAt: number;
  busy: number;
}

interface Held {
  tool: OpenTool;
  /** Undefined before it is created, and after it was released for recovery. */
  made: { state: InstanceState | undefined; lease: Lease } | undefined;
  answered: ServedCall[];
  snapshot: Uint8Array | undefined;
}

/** A server's instances of tools: one for each trajectory and tool. Only the trajectory's name identifies it. */
export interface ServedInstances {
  /**
   * Runs `work` with the trajectory's instance. If its thread has ended or a call failed halfway, it is first
   * recovered as its manifest declares. Throws TOOL_STATE_LOST, TOO_MANY_TRAJECTORIES, and errors of the plugin or
   * `work`.
   */
  use<T>(use: InstanceUse, work: (state: InstanceState | undefined) => Promise<T>): Promise<T>;
  /** Releases the trajectory's instances. */
  release(trajectory: string): Promise<void>;
  /** How many trajectories have instances. */
  count(): number;
  /** Trajectories that have not used their instances for `ms`. */
  idle(ms: number): string[];
  close(): Promise<void>;
}

/**
 * Instances of at most `limit` trajectories. Their resources are recorded in `folder`, so that the next server there
 * releases those of a killed one.
 */
export function holdServedInstances(
  tools: readonly OpenTool[],
  { folder, limit, log }: { folder: string; limit: number; log: (text: string) => void },
): ServedInstances {
  const leases = openLeases(folder);
  const worker = randomUUID();
  const owner = ownIdentity();
  const trajectories = new Map<string, Holder>();
  let fence = 0;

  async function make(held: Held, { trajectory, tool, task, signal }: InstanceUse): Promise<void> {
    const lease: Lease = {
      trajectory,
      tool: tool.name,
      fence: ++fence,
      worker,
      owner,
      mark: randomUUID(),
    };
    const key = keyOf(trajectory, tool.name);
    leases.write(key, lease);
    const creation = {
      instance: trajectory,
      task,
      config: tool.config,
      signal,
      environment: { [markVariable]: lease.mark },
      hold: (handle) => {
        lease.handle = handle;
        leases.write(key, lease);
      },
    } satisfies ToolCreation;
    try {
      const isNew = held.answered.length === 0;
      const state = isNew ? await tool.plugin.create?.(creation) : await recovered(held, creation);
      held.made = { state, lease };
    } catch (error) {
      await free(tool, { state: undefined, lease }, false);
      throw error;
    }
  }

  function recovered({ tool, answered, snapshot }: Held, creation: ToolCreation) {
    log(`${tool.name}: recovering the state of ${creation.instance} (${tool.recovery})`);
    const last = answered.length - 1;
    const before = answered.map(({ function: called, arguments: given }, turn) => ({
      turn,
      call: 0,
      recorded: defined<Answered>({
        tool: called,
        arguments: given,
        observation: "",
        valid: true,
        attempts: 1,
        reward: 0,
        seconds: 0,
        snapshot: turn === last && snapshot !== undefined ? "" : undefined,
      }),
    }));
    return recoverInstance(tool, creation, before, { readBytes: async () => snapshot });
  }

  /** Releases an instance by the plugin's release or, if that fails, by its recorded resources. */
  async function free(
    tool: OpenTool,
    { state, lease }: { state: InstanceState | undefined; lease: Lease },
    isWhole: boolean,
  ): Promise<void> {
    let isFree = false;
    try {
      if (isWhole) await tool.plugin.release?.(state);
      isFree = isWhole;
    } catch (error) {
      log(`${tool.name}: ${lease.trajectory} was not released: ${messageOf(error)}`);
    }
    if (isFree || (await reap(tool, lease))) leases.removeOwn(keyOf(lease.trajectory, tool.name), lease);
  }

  /** Releases a lease's resources. Returns whether that worked. */
  async function reap(tool: OpenTool | undefined, { trajectory, handle, mark }: Lease): Promise<boolean> {
    try {
      killMarked(markVariable, mark);
      if (handle === undefined) return true;
      await tool?.plugin.reap?.(handle, tool.config);
      return tool !== undefined;
    } catch (error) {
      log(`${tool?.name}: what it holds for ${trajectory} was not freed: ${messageOf(error)}`);
      return false;
    }
  }

  async function letGo(held: Held): Promise<void> {
    const { tool, made } = held;
    held.made = undefined;
    if (made !== undefined) await free(tool, made, !tool.isLost(made.state));
  }

  /** The leftovers of killed servers. */
  const swept = (async () => {
    for (const filed of await leases.list()) {
      if (!leases.isAbandoned(filed)) continue;
      const tool = tools.find(({ name }) => name === filed.lease.tool);
      if (await reap(tool, filed.lease)) leases.remove(filed.file);
    }
  })().catch((error: unknown) => log(`what an earlier server left was not freed: ${messageOf(error)}`));

  function trajectoryOf(name: string): Holder {
    const known = trajectories.get(name);
    if (known === undefined && trajectories.size >= limit)
      throw new EverturnError("TOO_MANY_TRAJECTORIES", { count: limit });
    const own = known ?? { held: new Map(), usedAt: 0, busy: 0 };
    trajectories.set(name, own);
    return own;
  }

  function heldBy({ held }: Holder, tool: OpenTool): Held {
    const own = held.get(tool.name) ?? { tool, made: undefined, answered: [], snapshot: undefined };
    held.set(tool.name, own);
    return own;
  }

  return {
    use: async (use, work) => {
      const { tool, call } = use;
      const trajectory = trajectoryOf(use.trajectory);
      const held = heldBy(trajectory, tool);
      trajectory.busy++;
      try {
        if (held.made !== undefined && tool.isLost(held.made.state)) await letGo(held);
        if (held.made === undefined) await make(held, use);
        const { state } = held.made ?? {};
        const answer = await work(state);
        if (tool.recovery === "snapshot") held.snapshot = await tool.plugin.snapshot?.(state);
        if (tool.recovery === "snapshot") held.answered.length = 0;
        held.answered.push(call);
        return answer;
      } catch (error) {
        // Half of the call may have happened, so the state is recovered if possible.
        if (tool.recovery !== "fail") await letGo(held);
        throw error;
      } finally {
        trajectory.busy--;
        trajectory.usedAt = performance.now();
      }
    },
    release: async (name) => {
      const { held } = trajectories.get(name) ?? {};
      trajectories.delete(name);
      await Promise.all([...(held?.values() ?? [])].map(letGo));
    },
    count: () => trajectories.size,
    idle: (ms) =>
      [...trajectories].flatMap(([name, { busy, usedAt }]) =>
        busy === 0 && performance.now() - usedAt > ms ? [name] : [],
      ),
    close: async () => {
      await swept;
      const all = [...trajectories.values()].flatMap(({ held }) => [...held.values()]);
      trajectories.clear();
      await Promise.allSettled(all.map(letGo));
    },
  };
}

/** The beginning of its leases' names. A trajectory's name may be any text. */
function keyOf(trajectory: string, tool: string): string {
  return `serve~${createHash("sha256").update(trajectory).digest("hex").slice(0, 32)}~0~${tool}`;
}
