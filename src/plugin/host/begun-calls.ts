/** More calls than a worker has under way at once, so that no two of them share a slot. */
const slots = 4096;

/** Shared memory in which a plugin's thread notes when its calls begin: the newest one first, then each in its slot. */
export function begunCalls(): BigInt64Array {
  return new BigInt64Array(new SharedArrayBuffer((1 + slots) * BigInt64Array.BYTES_PER_ELEMENT));
}

/** The call is asked for, and has not begun. */
export function noteAsked(begun: BigInt64Array, call: number): void {
  Atomics.store(begun, slotOf(call), 0n);
}

/** The call begins. */
export function noteBegun(begun: BigInt64Array, call: number): void {
  const now = process.hrtime.bigint(); // the same clock in all threads of the process
  Atomics.store(begun, 0, now);
  Atomics.store(begun, slotOf(call), now);
}

/** Milliseconds since the call began; undefined while it stands in line. */
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
