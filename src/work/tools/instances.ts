import { randomUUID } from "node:crypto";
import { oneAtATime } from "../../base/async/one-at-a-time.ts";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { markVariable } from "../../base/processes/marked-processes.ts";
import type { ProcessIdentity } from "../../base/processes/process-identity.ts";
import type { SilentWorker } from "../../contracts/activities.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { ToolCreation } from "../../contracts/tool.ts";
import type { TrajectoryPlace } from "../../contracts/trajectory.ts";
import type { InstanceState } from "../../plugin/host/plugin-thread.ts";
import { leftOutKey, trajectoryKey, turnKey } from "../../run/store/keys.ts";
import type { Store } from "../../run/store/store.ts";
import { leftOutRecords } from "../../run/trajectory/trajectory-files.ts";
import { type InstanceName, openFences } from "./fences.ts";
import { instanceKey, type Lease, type Leases } from "./leases.ts";
import type { OpenTool } from "./open-tool.ts";
import { createReaper } from "./reaper.ts";
import { type Position, recordedCalls } from "./recorded-calls.ts";
import { recoverInstance } from "./recover-instance.ts";
import { mayTakeOver } from "./take-over.ts";

/** A worker that holds instances, as other workers see it. */
export interface HoldingWorker {
  /** Distinguishes workers, even within one process. */
  id: string;
  owner: ProcessIdentity;
  /** The queue on which it serves the instances that it holds. */
  queue(): Promise<string>;
}

/** A call that needs an instance. */
export interface InstanceRequest extends Position {
  place: TrajectoryPlace;
  task: Task;
  tool: OpenTool;
  /** The trajectory has called the tool before, according to its workflow. */
  continues: boolean;
  /** The worker that did not take the call. */
  silent?: SilentWorker | undefined;
  signal: AbortSignal;
}

/** An instance's answer, and its state after that. */
export interface InstanceAnswer<T> {
  answer: T;
  snapshot?: string;
}

/** The instances of tools that this worker holds: one per trajectory and tool, each with a fencing number. */
export interface Instances {
  /**
   * Returns the queue of another worker that holds the instance and is not known to be gone. Undefined if
   * this worker may serve the call. `silent` is the worker that did not take one.
   */
  heldBy(place: TrajectoryPlace, tool: OpenTool, silent?: SilentWorker): Promise<string | undefined>;
  /**
   * Does `work` with the trajectory's instance of the tool, one call at a time. If this worker does not hold
   * the instance, or its thread has ended, the instance is created, or recovered as the tool's manifest
   * specifies, and taken over from its previous holder. Throws TOOL_STATE_LOST, TOOL_LEASE_TAKEN and the
   * plugin's errors.
   */
  use<T>(
    call: InstanceRequest,
    work: (state: InstanceState | undefined) => Promise<T>,
  ): Promise<InstanceAnswer<T>>;
  /** Releases an instance whose state differs from the journal. The next call recovers it. */
  forget(place: TrajectoryPlace, tool: OpenTool): Promise<void>;
  /** Frees the trajectory's instance if this worker holds it, or if a dead worker of this machine held it. */
  release(place: TrajectoryPlace, tool: OpenTool): Promise<void>;
  /**
   * Renews the leases held here. Releases instances that other workers took over or that belong to finished
   * trajectories.
   */
  renew(): Promise<void>;
  /**
   * Frees instances whose workers are gone. `sparesFresh` excepts, for a while, those that another worker may reattach to.
   */
  reap(sparesFresh?: boolean): Promise<void>;
  /** Releases every instance held here. */
  close(): Promise<void>;
}

interface Held {
  tool: OpenTool;
  place: TrajectoryPlace;
  /** How often the trajectory had been left out when the instance was created. */
  leftOut: number;
  lease: Lease;
  state: InstanceState | undefined;
}

/** The instances of a worker for a run. `open` opens the tool of a lease that was found. */
export function holdInstances(
  store: Store,
  leases: Leases,
  worker: HoldingWorker,
  open: (tool: string) => Promise<OpenTool>,
  log: (text: string) => void,
): Instances {
  const fences = openFences(store);
  const reaper = createReaper(leases, open, log);
  const held = new Map<string, Held>();
  /** All leases of this worker, including those of instances that are being created. */
  const leased = new Map<string, Lease>();
  const busy = new Set<string>();
  const inTurn = oneAtATime();

  async function make(key: string, call: InstanceRequest): Promise<Held> {
    const { place, tool } = call;
    const earlier = await recordedCalls(store, place, call);
    const before = earlier.filter(({ recorded }) => tool.functions.has(recorded.tool));
    if (!tool.reattaches) await reaper.reapOne(key);
    const leftOut = (await leftOutRecords(store, place)).length;
    const lease = await take(key, call);
    const creation = {
      instance: place.id,
      task: call.task,
      config: tool.config,
      environment: { [markVariable]: lease.mark },
      signal: call.signal,
      hold: (handle) => {
        lease.handle = handle;
        if (leased.get(key) === lease) leases.write(key, lease);
        else void reaper.free(tool, lease); // creating it took so long that it was abandoned
      },
    } satisfies ToolCreation;
    try {
      const isNew = before.length === 0 && !call.continues;
      if (!isNew) log(`${tool.name}: recovering the state of ${place.id} (${tool.recovery})`);
      const state = isNew
        ? await tool.plugin.create?.(creation)
        : await recoverInstance(tool, creation, before, store);
      if (tool.reattaches) await reaper.reapOne(key, lease.handle);
      return { tool, place, leftOut, lease, state };
    } catch (error) {
      await free(key, { tool, lease, state: undefined }, false);
      throw error;
    }
  }

  /** Takes the instance with the next fencing number, and writes a lease for its resources. */
  async function take(key: string, { place, tool, silent }: InstanceRequest): Promise<Lease> {
    const name = { place, tool: tool.name };
    const { fence: before, holder } = await fences.newest(name);
    const own = { worker: worker.id, queue: await worker.queue() };
    if (holder !== undefined && !mayTakeOver(holder, own, tool.recovery, silent)) throw taken(name);
    const [mark, at, { owner }] = [randomUUID(), new Date().toISOString(), worker];
    const fence = await fences.takeAfter(name, before, { ...own, mark, owner, at });
    if (fence === undefined) throw taken(name);
    const about = { trajectory: place.id, tool: tool.name, worker: worker.id };
    const lease: Lease = { ...about, fence, owner, mark };
    leased.set(key, lease);
    leases.write(key, lease);
    return lease;
  }

  function isMine({ place, tool, lease }: Held): Promise<boolean> {
    return fences.isNewest({ place, tool: tool.name }, lease.fence);
  }

  /**
   * Whether the trajectory has ended since the instance was created. A trajectory that was left out may have
   * restarted. If the record of its first turn, which made the first call, is gone, the trajectory has moved
   * to a step's file.
   */
  async function isFinished({ place, leftOut }: Held): Promise<boolean> {
    return (
      (await store.read(trajectoryKey(place))) !== undefined ||
      (await store.read(leftOutKey(place, leftOut + 1))) !== undefined ||
      !(await store.has(turnKey(place, 1)))
    );
  }

  /**
   * Ends the plugin's resources with its release or, if that fails, with its handle. Then gives up the lease.
   */
  async function free(
    key: string,
    { tool, lease, state }: Pick<Held, "tool" | "lease" | "state">,
    isWhole = true,
  ): Promise<void> {
    const { plugin, name } = tool;
    try {
      if (isWhole) await plugin.release?.(state);
    } catch (error) {
      log(`${name}: ${lease.trajectory} was not released: ${messageOf(error)}`);
      isWhole = false;
    }
    const isFree = isWhole || (await reaper.free(tool, lease));
    if (!isFree) return; // the next check of the leases retries
    if (leased.get(key) === lease) leased.delete(key);
    leases.removeOwn(key, lease);
  }

  async function letGo(key: string): Promise<void> {
    const instance = held.get(key);
    if (instance === undefined) return;
    held.delete(key);
    await free(key, instance, !instance.tool.isLost(instance.state));
  }

  async function use<T>(
    call: InstanceRequest,
    work: (state: InstanceState | undefined) => Promise<T>,
  ): Promise<InstanceAnswer<T>> {
    const { tool, place } = call;
    const key = instanceKey(place, tool.name);
    const name = { place, tool: tool.name };
    const known = held.get(key);
    if (known !== undefined && (tool.isLost(known.state) || !(await isMine(known)))) await letGo(key);
    const instance = held.get(key) ?? (await make(key, call));
    held.set(key, instance);
    try {
      if (known !== instance && !(await isMine(instance))) throw taken(name); // another worker may have taken it during its creation
      const answer = await work(instance.state);
      const bytes = tool.recovery === "snapshot" ? await tool.plugin.snapshot?.(instance.state) : undefined;
      if (!(await isMine(instance))) throw taken(name);
      return bytes === undefined ? { answer } : { answer, snapshot: await store.bytes(bytes) };
    } catch (error) {
      const stillMine = await isMine(instance);
      // The call may be half done, so a recoverable state is recovered.
      if (!stillMine || tool.recovery !== "fail") await letGo(key);
      throw stillMine ? error : taken(name);
    }
  }

  return {
    heldBy: async (place, tool, silent) => {
      if (held.has(instanceKey(place, tool.name))) return undefined; // `use` checks it
      const { holder } = await fences.newest({ place, tool: tool.name });
      if (holder === undefined) return undefined;
      const own = { worker: worker.id, queue: await worker.queue() };
      return mayTakeOver(holder, own, tool.recovery, silent) ? undefined : holder.queue;
    },
    use: (call, work) => {
      const key = instanceKey(call.place, call.tool.name);
      return inTurn(key, async () => {
        busy.add(key);
        try {
          return await use(call, work);
        } finally {
          busy.delete(key);
        }
      });
    },
    forget: (place, tool) => {
      const key = instanceKey(place, tool.name);
      return inTurn(key, () => letGo(key));
    },
    release: (place, tool) => {
      const key = instanceKey(place, tool.name);
      return inTurn(key, async () => {
        await letGo(key);
        await reaper.reapOne(key);
      });
    },
    renew: async () => {
      for (const [key, lease] of leased) leases.renew(key, lease);
      for (const [key, lease] of leased) {
        const isLeft = !held.has(key) && !busy.has(key);
        if (isLeft) await free(key, { tool: await open(lease.tool), lease, state: undefined }, false);
      }
      for (const [key, instance] of [...held]) {
        const isLost = instance.tool.isLost(instance.state);
        if (!isLost && (await isMine(instance)) && !(await isFinished(instance))) continue;
        if (busy.has(key)) continue; // the call checks it at its end
        await inTurn(key, async () => {
          if (held.get(key) === instance) await letGo(key);
        });
      }
    },
    reap: (sparesFresh = false) =>
      reaper.reap((filed, tool) => sparesFresh && tool.reattaches && leases.isFresh(filed)),
    close: async () => {
      await Promise.allSettled([...held.keys()].map(letGo));
    },
  };
}

function taken({ place, tool }: InstanceName): EverturnError {
  return new EverturnError("TOOL_LEASE_TAKEN", { tool, trajectory: place.id });
}
