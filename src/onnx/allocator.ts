/**
 * The environment of a process that trains: asks glibc for huge pages, which halve the time in which gradients are
 * fetched, and to give large blocks back as soon as they are free, not to keep them in a heap full of holes. Other
 * systems ignore it.
 */
export function trainingEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const wanted = ["glibc.malloc.hugetlb=1", "glibc.malloc.mmap_threshold=600000"];
  const given = environment.GLIBC_TUNABLES;
  return { ...environment, GLIBC_TUNABLES: [...wanted, ...(given ? [given] : [])].join(":") };
}
