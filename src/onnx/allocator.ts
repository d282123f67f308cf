const hugePages = "glibc.malloc.hugetlb=1";
/** Large blocks are given back as soon as they are free, not kept in a heap full of holes, and new ones are zeros that take no time. */
const largeBlocks = "glibc.malloc.mmap_threshold=600000";

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
