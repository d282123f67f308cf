import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { Replica, ServedWeights } from "./replica.ts";
import type { EngineAction, EngineAnswer } from "./server-protocol.ts";

/** Replicas of an inference server, used as one. */
export interface Fleet {
  /**
   * Generates an action with these weights. Prefers the replica that generated the trajectory's earlier actions,
   * because it holds their keys and values. Uses another one if that fails. Throws ENGINE_FAILED once `patience` is
   * over, ENGINE_REFUSED, and the signal's reason.
   */
  generate(
    trajectory: string,
    weights: ServedWeights,
    action: EngineAction,
    signal: AbortSignal,
    onBegin?: () => void,
  ): Promise<EngineAnswer>;
  /** Loads weights in every healthy replica. Throws their errors if all fail. */
  load(weights: ServedWeights): Promise<void>;
  /** Ends active requests with POLICY_CLOSED. */
  close(): void;
}

/** The number of failures of healthy replicas after which an action fails. */
const failuresOfTheWell = 8;

/** Milliseconds between two searches for a healthy replica. */
const lookEvery = 250;

/** Opens a fleet. `patience`: milliseconds that an action waits for a healthy replica. */
export function openFleet(replicas: readonly Replica[], patience: number): Fleet {
  const closing = new AbortController();

  /** Returns the healthy replicas, beginning with the trajectory's own. */
  const candidates = (trajectory: string): Replica[] =>
    inOrder(
      trajectory,
      replicas.filter((replica) => replica.isUp()),
    );

  /** Checks the unhealthy replicas until one is healthy. Does not wait if one already is. */
  const lookAround = async (signal: AbortSignal, until: number) => {
    for (;;) {
      const looking = replicas.map((replica) => replica.look());
      if (replicas.some((replica) => replica.isUp())) return;
      await Promise.all(looking);
      if (replicas.some((replica) => replica.isUp()) || performance.now() > until) return;
      await wait(lookEvery, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  };

  return {
    async generate(trajectory, weights, action, signal, onBegin) {
      const either = AbortSignal.any([signal, closing.signal]);
      const until = performance.now() + patience;
      const failed = new Map<Replica, number>();
      for (let failures = 0; ; ) {
        await lookAround(either, until);
        const times = (tried: Replica) => failed.get(tried) ?? 0;
        const [replica] = candidates(trajectory).sort((one, other) => times(one) - times(other));
        if (replica === undefined) throw none(replicas);
        try {
          const id = `${action.id}-${failures}`;
          return await replica.generate(weights, { ...action, id }, either, onBegin);
        } catch (error) {
          either.throwIfAborted();
          failures += 1;
          failed.set(replica, times(replica) + 1);
          const again = error instanceof EverturnError && error.code === "ENGINE_FAILED";
          if (!again || failures >= failuresOfTheWell) throw error;
        }
      }
    },

    async load(weights) {
      await lookAround(closing.signal, performance.now() + patience);
      const up = replicas.filter((replica) => replica.isUp());
      if (up.length === 0) throw none(replicas);
      const results = await Promise.allSettled(up.map((replica) => replica.load(weights, closing.signal)));
      const failures = results.filter((result) => result.status === "rejected");
      if (failures.length === results.length) throw failures[0]?.reason;
    },

    close: () => closing.abort(new EverturnError("POLICY_CLOSED", {})),
  };
}

/** Orders replicas by rendezvous hashing. A trajectory's order is the same in every worker and after every restart. */
function inOrder(trajectory: string, replicas: readonly Replica[]): Replica[] {
  const rank = ({ url }: Replica) => createHash("sha256").update(`${url}\n${trajectory}`).digest("hex");
  return replicas
    .map((replica) => ({ replica, rank: rank(replica) }))
    .sort((one, other) => (one.rank < other.rank ? -1 : 1))
    .map(({ replica }) => replica);
}

function none(replicas: readonly Replica[]): EverturnError {
  const url = replicas.map((replica) => replica.url).join(", ");
  return new EverturnError("ENGINE_FAILED", {
    engine: "The inference server",
    url,
    reason: "has no replica that is well",
  });
}
