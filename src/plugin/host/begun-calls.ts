/** More calls than a worker makes at once, so that no two of them share a slot. */
const slots = 4096;

/**
 * Creates the shared memory in which a plugin's thread notes when its calls begin: the newest call first,
 * then each in its slot.
 */
export function begunCalls(): BigInt64Array {
  return new BigInt64Array(new SharedArrayBuffer((1 + slots) * BigInt64Array.BYTES_PER_ELEMENT));
}

/** Notes that the call was requested and has not begun. */
export function noteAsked(begun: BigInt64Array, call: number): void {
  Atomics.store(begun, slotOf(call), 0n);
}

/** Notes that the call begins. */
export function noteBegun(begun: BigInt64Array, call: number): void {
  const now = process.hrtime.bigint(); // all threads of the process share this clock
  Atomics.store(begun, 0, now);
  Atomics.store(begun, slotOf(call), now);
}

/** Milliseconds since the call began. Undefined while it waits in the queue. */
export function sinceBegun(begun: BigInt64Array, call: number): number | undefined {
  return since(Atomics.load(begun, slotOf(call)));
}

/** Milliseconds since any call began. */
export function sinceNewest(begun: BigInt64Array): number | undefined {
  return since(Atomics.load(begun, 0));
}

function slotOf(call: number): number {
  return 1 + (call % slots);
}

function since(time: bigint): number | undefined {
  return time === 0n ? undefined : Number(process.hrtime.bigint() - time) / 1e6;
}
