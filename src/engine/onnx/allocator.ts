import type { ForeignFunctions } from "./foreign-calls.ts";

const hugePages = "glibc.malloc.hugetlb=1";
/**
 * Bytes from which blocks have their own memory. Such blocks are released when they are freed, instead of staying in a
 * fragmented heap, and new ones are zeros without cost. By default, glibc raises this limit to the size of each freed
 * block, up to 32 MiB.
 */
const largeBlock = 600_000;
const mmapThreshold = "glibc.malloc.mmap_threshold";
const largeBlocks = `${mmapThreshold}=${largeBlock}`;
/** glibc's M_MMAP_THRESHOLD. */
const thresholdParameter = -3;

/**
 * Returns the environment of a process that trains. It asks glibc for huge pages, which halve the time to fetch
 * gradients, and not to keep large blocks. Other systems ignore it.
 */
export function trainingEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return withTunables(environment, [hugePages, largeBlocks]);
}

/**
 * Returns the environment of a process that samples. It asks glibc not to keep large blocks, because the room for keys
 * and values far exceeds the used part, and would be filled with zeros. Other systems ignore it.
 */
export function samplingEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return withTunables(environment, [largeBlocks]);
}

/**
 * Applies the same setting to this process, if it did not start as a worker and its environment does not override it.
 * Other C libraries have no such setting.
 */
export function keepLargeBlocksApart(koffi: ForeignFunctions["koffi"]): void {
  if (process.platform !== "linux" || process.env.GLIBC_TUNABLES?.includes(mmapThreshold)) return;
  try {
    koffi.load(null).func("int mallopt(int, int)")(thresholdParameter, largeBlock);
  } catch {
    // musl has no mallopt, and gives large blocks their own memory anyway.
  }
}

/**
 * Removes this module's settings from a process's own environment, so that its children don't inherit them. glibc has
 * already read them.
 */
export function forgetTunables(environment: NodeJS.ProcessEnv): void {
  const given = environment.GLIBC_TUNABLES?.split(":") ?? [];
  const others = given.filter((one) => one !== hugePages && one !== largeBlocks);
  if (others.length > 0) environment.GLIBC_TUNABLES = others.join(":");
  else delete environment.GLIBC_TUNABLES;
}

function withTunables(environment: NodeJS.ProcessEnv, wanted: readonly string[]): NodeJS.ProcessEnv {
  const given = environment.GLIBC_TUNABLES;
  return { ...environment, GLIBC_TUNABLES: [...wanted, ...(given ? [given] : [])].join(":") };
}
