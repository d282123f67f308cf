/**
 * Processes of tests share two cores with many others, and have little to do. A Temporal server on one thread does it with an
 * eighth less of the processor: several look for work by spinning. Node with one thread beside its own, where it has four, with
 * a twentieth less: they collect garbage together, and compile what soon ends. Every command has the environment of its test.
 */
export default function giveFewThreads(): void {
  process.env.GOMAXPROCS ??= "1";
  process.env.NODE_OPTIONS ??= "--v8-pool-size=1";
}
