import { relative } from "node:path";
import type { Task } from "../contracts/generated/task.ts";
import type { ToolCreation } from "../contracts/tool.ts";
import type { TrajectoryPlace } from "../contracts/trajectory.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { messageOf } from "../errors/message-of.ts";
import { killMarked, markVariable } from "../processes/marked-processes.ts";
import { oneAtATime } from "../promises/one-at-a-time.ts";
import type { RunFolder } from "../runs/run-folder.ts";
import { leftOutKey, trajectoryKey } from "../store/keys.ts";
import type { Store } from "../store/store.ts";
import type { InstanceState } from "../threads/plugin-thread.ts";
import { leftOutRecords } from "../trajectory/trajectory-files.ts";
import { instanceKey, isAbandoned, type Lease, type Leases } from "./leases.ts";
import type { OpenTool } from "./open-tool.ts";
import { type AnsweredCall, type CallPlace, recordedCalls } from "./recorded-calls.ts";

/** A call that needs an instance. */
export interface InstanceCall extends CallPlace {
  place: TrajectoryPlace;
  task: Task;
  tool: OpenTool;
  attempt: number;
  /** The trajectory says that it has called the tool before. */
  continues: boolean;
  signal: AbortSignal;
}

/** What an instance answered, and its state after that. */
export interface InstanceAnswer<T> {
  answer: T;
  snapshot?: string;
}

/** The instances of tools that this worker holds: one for each trajectory and tool, each under a lease. */
export interface Instances {
  /**
   * Does `work` with the trajectory's instance of the tool, one call after the other. An instance that this worker
   * does not hold, or whose thread has ended, is made, or recovered as the tool's manifest says, and with it the lease is taken over. Throws
   * TOOL_STATE_LOST, TOOL_LEASE_TAKEN, and what the plugin fails with.
   */
  use<T>(
    call: InstanceCall,
    work: (state: InstanceState | undefined) => Promise<T>,
  ): Promise<InstanceAnswer<T>>;
  /** Lets an instance go whose state is not what the journal says: the next call recovers it. */
  forget(place: TrajectoryPlace, tool: OpenTool): Promise<void>;
  /** Frees the trajectory's instance here, and one whose worker died. */
  release(place: TrajectoryPlace, tool: OpenTool): Promise<void>;
  /** Renews the leases held here; lets go of what was taken over, and of what finished trajectories left. */
  renew(): Promise<void>;
  /** Frees what nobody holds. */
  reap(): Promise<void>;
  /** Releases every instance held here. */
  close(): Promise<void>;
}

/** Attempts at a call that wait for the worker that holds its instance. */
const patientAttempts = 8;

interface Held {
  tool: OpenTool;
  place: TrajectoryPlace;
  /** How often the trajectory had been left out when the instance was made. */
  leftOut: number;
  lease: Lease;
  state: InstanceState | undefined;
}

/** The instances of a worker for a run; `open` opens a tool whose lease was found. */
export function holdInstances(
  { folder, store }: { folder: RunFolder; store: Store },
  leases: Leases,
  open: (tool: string) => Promise<OpenTool>,
  log: (text: string) => void,
): Instances {
  const held = new Map<string, Held>();
  /** All leases of this worker, those of instances under way included. */
  const leased = new Map<string, Lease>();
  const busy = new Set<string>();
  const inTurn = oneAtATime();

  async function make(key: string, call: InstanceCall): Promise<Held> {
    const { place, tool } = call;
    const journal = folder.trajectory(place);
    const earlier = await recordedCalls(store, place, call);
    const before = earlier.filter(({ recorded }) => recorded.tool === tool.name);
    await reapKey(key);
    await leaveToHolder(key, call);
    const leftOut = (await leftOutRecords(store, place)).length;
    const about = { trajectory: place.id, tool: tool.name, journal: relative(folder.root, journal) };
    const lease = await leases.claim(key, about);
    leased.set(key, lease);
    const creation = {
      ...{ instance: place.id, task: call.task, config: tool.config },
      environment: { [markVariable]: lease.mark },
      signal: call.signal,
      hold: (handle) => {
        if (leased.get(key) === lease) leases.hold(key, lease, handle);
        else void reapLeft(tool, { ...lease, handle }); // it took so long that it was given up
      },
    } satisfies ToolCreation;
    try {
      const state =
        before.length > 0 || call.continues
          ? await recover(call, creation, before)
          : await tool.plugin.create?.(creation);
      return { tool, place, leftOut, lease, state };
    } catch (error) {
      await free(key, { tool, lease, state: undefined }, false);
      throw error;
    }
  }

  /**
   * A living worker that holds the instance is better than another instance: the call waits for it, for a few attempts
   * where the state can be recovered, and as long as it lives where it can't.
   */
  async function leaveToHolder(key: string, { tool, place, attempt }: InstanceCall): Promise<void> {
    const [holder] = await leases.list(key);
    if (holder === undefined || holder.lease.worker === leases.worker) return;
    if (tool.recovery !== "fail" && attempt > patientAttempts) return;
    const worker = `${holder.lease.owner.pid} on ${holder.lease.owner.machine}`;
    throw new EverturnError("TOOL_HELD_ELSEWHERE", { worker, tool: tool.name, trajectory: place.id });
  }

  async function recover(
    call: InstanceCall,
    creation: ToolCreation,
    before: (CallPlace & { recorded: AnsweredCall })[],
  ): Promise<InstanceState | undefined> {
    const { tool, place, signal } = call;
    const { plugin } = tool;
    const lost = () => new EverturnError("TOOL_STATE_LOST", { tool: tool.name, trajectory: place.id });
    if (before.length === 0 || tool.recovery === "fail") throw lost();
    log(`${tool.name}: recovering the state of ${place.id} (${tool.recovery})`);
    if (tool.recovery === "snapshot") {
      const name = before.at(-1)?.recorded.snapshot;
      const bytes = name === undefined ? undefined : await store.readBytes(name);
      if (bytes === undefined) throw lost();
      return plugin.restore?.(bytes, creation);
    }
    const state = await plugin.create?.(creation);
    for (const { turn, call: number, recorded } of before) {
      const key = `${place.id}/${turn}/${number}`;
      const again = { instance: place.id, key, attempt: 1, config: tool.config, isReplay: true, signal };
      await plugin.execute(recorded.arguments, again, state);
    }
    return state;
  }

  /** Ends what the plugin holds here, by its release or, if that fails, by its handle; then gives up the lease. */
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
    const isFree = isWhole || (await reapLeft(tool, lease));
    if (!isFree) return; // the next look at the leases tries again
    if (leased.get(key) === lease) leased.delete(key);
    leases.removeOwn(key, lease);
  }

  /** Frees what a lease stands for; whether that worked. */
  async function reapLeft(tool: OpenTool, { trajectory, handle, mark }: Lease): Promise<boolean> {
    try {
      killMarked(markVariable, mark);
      if (handle !== undefined) await tool.plugin.reap?.(handle, tool.config);
      return true;
    } catch (error) {
      log(`${tool.name}: what it holds for ${trajectory} was not freed: ${messageOf(error)}`);
      return false;
    }
  }

  /** Whether the trajectory ended since the instance was made. One that was left out may have been begun again. */
  async function isFinished({ place, leftOut }: Held): Promise<boolean> {
    return (
      (await store.read(trajectoryKey(place))) !== undefined ||
      (await store.read(leftOutKey(place, leftOut + 1))) !== undefined
    );
  }

  async function letGo(key: string): Promise<void> {
    const instance = held.get(key);
    if (instance === undefined) return;
    held.delete(key);
    await free(key, instance, !instance.tool.isLost(instance.state));
  }

  /** Frees what dead workers left of one instance, or of all. */
  async function reapKey(key?: string): Promise<void> {
    for (const filed of await leases.list(key)) {
      if (!isAbandoned(filed)) continue;
      const { tool: name, trajectory } = filed.lease;
      if (!(await reapLeft(await open(name), filed.lease))) continue;
      leases.remove(filed.file);
      log(`${name}: freed what a worker that is gone held for ${trajectory}`);
    }
  }

  async function use<T>(
    call: InstanceCall,
    work: (state: InstanceState | undefined) => Promise<T>,
  ): Promise<InstanceAnswer<T>> {
    const { tool, place } = call;
    const key = instanceKey(place, tool.name);
    const known = held.get(key);
    if (known !== undefined && (tool.isLost(known.state) || !(await leases.isMine(key, known.lease)))) {
      await letGo(key);
    }
    const instance = held.get(key) ?? (await make(key, call));
    held.set(key, instance);
    const taken = () => new EverturnError("TOOL_LEASE_TAKEN", { tool: tool.name, trajectory: place.id });
    try {
      const answer = await work(instance.state);
      const bytes = tool.recovery === "snapshot" ? await tool.plugin.snapshot?.(instance.state) : undefined;
      if (!(await leases.isMine(key, instance.lease))) throw taken();
      return bytes === undefined ? { answer } : { answer, snapshot: await store.bytes(bytes) };
    } catch (error) {
      const isMine = await leases.isMine(key, instance.lease);
      // Half of the call may have happened: a state that can be recovered is.
      if (!isMine || tool.recovery !== "fail") await letGo(key);
      throw isMine ? error : taken();
    }
  }

  return {
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
        // Another worker that lives frees its own once the trajectory has its record. Its lease is how others find what
        // it held if it dies before that.
        await reapKey(key);
      });
    },
    renew: async () => {
      for (const [key, lease] of leased) leases.renew(key, lease);
      for (const [key, lease] of leased) {
        const isLeft = !held.has(key) && !busy.has(key);
        if (isLeft) await free(key, { tool: await open(lease.tool), lease, state: undefined }, false);
      }
      const before = [...held];
      const holding = await leases.holders();
      for (const [key, instance] of before) {
        const { lease, state } = instance;
        const isLost = instance.tool.isLost(state);
        if (!isLost && holding.has(leases.nameOf(key, lease)) && !(await isFinished(instance))) continue;
        if (busy.has(key)) continue; // the call itself looks when it is done
        await inTurn(key, async () => {
          if (held.get(key) === instance) await letGo(key);
        });
      }
    },
    reap: () => reapKey(),
    close: async () => {
      await Promise.allSettled([...held.keys()].map(letGo));
    },
  };
}
