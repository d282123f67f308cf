import type { TinkerModel, TinkerSampler } from "@everturn/tinker";
import {
  adapterParams,
  releaseModels,
  type ServerConnection,
  type WeightsPointer,
} from "@everturn/trainer-tinker/shared";
import { EverturnError } from "everturn/engine";

/** Samplers of the versions of a policy. */
export interface Samplers {
  /**
   * Works with a version's sampler, which is made at its first use. Throws the errors of a connection's calls, and the
   * signal's reason. After an error of the server the version gets a new sampler.
   */
  use<Result>(
    version: number,
    weights: WeightsPointer,
    work: (sampler: TinkerSampler) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result>;
  /** Releases all samplers. */
  close(): Promise<void>;
}

/** A sampler in a session of its own. */
interface OpenSampler {
  sampler: TinkerSampler;
  release(): Promise<void>;
}

interface HeldSampler {
  opening: Promise<OpenSampler>;
  users: number;
}

/** The number of versions to keep on the server: the newest, and those of trajectories that began earlier. */
const versionsKept = 4;

/**
 * Opens the samplers of a policy. Each loads a version's checkpoint into a model of its own and saves that for sampling.
 * The trainer's model is never sampled: SkyRL on JAX loads the sampled weights into the model that saved them, where
 * they would replace newer ones.
 */
export function openSamplers({ call, openSession }: ServerConnection): Samplers {
  const held = new Map<number, HeldSampler>();

  async function open({ baseModel, path, lora }: WeightsPointer): Promise<OpenSampler> {
    const session = await openSession();
    let model: TinkerModel | undefined;
    const release = async () => {
      session.close();
      if (model !== undefined) await releaseModels([model]);
    };
    try {
      if (path === undefined) {
        const sampler = await call((options) => session.createSampler({ baseModel }, options));
        return { sampler, release };
      }
      const own = await call((options) =>
        session.createModel({ baseModel, lora: lora && adapterParams(lora) }, options),
      );
      model = own;
      // Some servers allow it only as the first request, so it can't be repeated.
      await call((options) => own.loadWeights(path, { ...options, optimizer: false, repeatable: false }));
      return { sampler: await call((options) => own.sampler(options)), release };
    } catch (error) {
      await release();
      throw error;
    }
  }

  function hold(version: number, weights: WeightsPointer): HeldSampler {
    const found = held.get(version);
    const one = found ?? { opening: open(weights), users: 0 };
    if (found === undefined) one.opening.catch(() => forget(version, one));
    held.delete(version);
    held.set(version, one); // by recency of use
    return one;
  }

  function forget(version: number, one: HeldSampler): void {
    if (held.get(version) === one) held.delete(version);
  }

  async function giveBack({ opening }: HeldSampler): Promise<void> {
    for (const outcome of await Promise.allSettled([opening]))
      if (outcome.status === "fulfilled") await outcome.value.release();
  }

  async function releaseIdle(): Promise<void> {
    const idle = [...held].filter(([, { users }]) => users === 0);
    const surplus = idle.slice(0, Math.max(0, held.size - versionsKept));
    for (const [version] of surplus) held.delete(version);
    await Promise.all(surplus.map(([, one]) => giveBack(one)));
  }

  return {
    async use(version, weights, work, signal) {
      const one = hold(version, weights);
      one.users += 1;
      try {
        const { sampler } = await until(one.opening, signal);
        await releaseIdle();
        return await work(sampler);
      } catch (error) {
        if (isOfServer(error)) forget(version, one);
        throw error;
      } finally {
        one.users -= 1;
        if (one.users === 0 && held.get(version) !== one) await giveBack(one);
      }
    },
    async close() {
      const all = [...held.values()];
      held.clear();
      await Promise.all(all.map(giveBack));
    },
  };
}

/** Whether an error may mean that the server lost the sampler. */
function isOfServer(error: unknown): boolean {
  return error instanceof EverturnError && error.code.startsWith("TINKER_");
}

/** Waits for a promise, but not after the signal aborted. */
async function until<Result>(promise: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return promise;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", abort));
}
