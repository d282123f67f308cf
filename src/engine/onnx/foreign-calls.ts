type Koffi = typeof import("koffi").default;

/** The foreign-function interface, with a stack large enough for ONNX Runtime. */
export interface ForeignFunctions {
  readonly koffi: Koffi;
  /** Whether other threads may also make calls, because their stacks are large enough. */
  readonly hasThreads: boolean;
}

/** Bytes of a call's stack, as in main threads. koffi gives calls their own stacks. */
const wantedStack = 8 * 2 ** 20;

/** Sufficient bytes: the size in threads on Windows, where ONNX Runtime works too. */
const sufficientStack = 2 ** 20;

/**
 * Opens the interface with sufficient stacks. Each process has one configuration, fixed by the first loaded library. An
 * existing one is used if it suffices. Throws if the interface is not installed, or its stacks are too small.
 */
export async function foreignCalls(): Promise<ForeignFunctions> {
  const { default: koffi } = await import("koffi");
  const large = (size: number | undefined) => Math.max(size ?? 0, wantedStack);
  const given = koffi.config();
  try {
    const { sync_stack_size: own, async_stack_size: others } = given;
    koffi.config({ sync_stack_size: large(own), async_stack_size: large(others) });
  } catch {
    // Another module has already loaded a library, so its configuration decides.
  }
  const {
    sync_stack_size: own = 0,
    async_stack_size: others = 0,
    max_async_calls: calls = 0,
  } = koffi.config();
  if (own < sufficientStack) {
    const kibibytes = (bytes: number) => `${Math.ceil(bytes / 1024)} KiB`;
    throw new Error(
      `something else in this process has configured koffi to give calls ${kibibytes(own)} of stack, not ${kibibytes(sufficientStack)}`,
    );
  }
  return { koffi, hasThreads: others >= sufficientStack && calls > 0 };
}
