import type { ForeignFunctions } from "./foreign-calls.ts";

const hugePages = "glibc.malloc.hugetlb=1";
/**
 * Bytes from which blocks have memory of their own. They are given back as soon as they are free, not kept in a heap full of holes, and new ones
 * are zeros that take no time. Left alone, glibc lets this rise to the size of each block that is given back, up to 32 MiB.
 */
const largeBlock = 600_000;
const mmapThreshold = "glibc.malloc.mmap_threshold";
const largeBlocks = `${mmapThreshold}=${largeBlock}`;
/** glibc's M_MMAP_THRESHOLD. */
const thresholdParameter = -3;

/**
 * The environment of a process that trains: asks glibc for huge pages, which halve the time in which gradients are
 * fetched, and not to keep large blocks. Other systems ignore it.
 */
export function trainingEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return withTunables(environment, [hugePages, largeBlocks]);
}

/**
 * The environment of a process that samples: asks glibc not to keep large blocks, since room for keys and values is taken far beyond
 * what is used of it, and would be filled with zeros. Other systems ignore it.
 */
export function samplingEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return withTunables(environment, [largeBlocks]);
}

/** The same of this process's large blocks, for whoever has not begun as a worker: unless its environment says otherwise. Other C libraries have no such setting. */
export function keepLargeBlocksApart(koffi: ForeignFunctions["koffi"]): void {
  if (process.platform !== "linux" || process.env.GLIBC_TUNABLES?.includes(mmapThreshold)) return;
  try {
    koffi.load(null).func("int mallopt(int, int)")(thresholdParameter, largeBlock);
  } catch {
    // musl has no mallopt, and gives large blocks memory of their own anyhow.
  }
}

/** Takes what this module has asked for out of a process's own environment, which what it starts would inherit: glibc has read it. */
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
