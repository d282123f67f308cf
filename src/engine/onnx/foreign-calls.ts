type Koffi = typeof import("koffi").default;

/** The foreign-function interface, for functions that want a stack like ONNX Runtime's. */
export interface ForeignFunctions {
  readonly koffi: Koffi;
  /** Whether other threads may make calls too: their stacks are large enough. */
  readonly hasThreads: boolean;
}

/** Bytes of stack for a call, as main threads have them: koffi gives calls stacks of its own. */
const wantedStack = 8 * 2 ** 20;

/** Bytes that do: what threads of Windows have, where ONNX Runtime runs too. */
const sufficientStack = 2 ** 20;

/**
 * The interface with stacks that are large enough. It has one configuration a process, which stands as soon as somebody
 * has loaded a library: another's is taken where it does. Throws if it is not there, or its stacks are too small.
 */
export async function foreignCalls(): Promise<ForeignFunctions> {
  const { default: koffi } = await import("koffi");
  const large = (size: number | undefined) => Math.max(size ?? 0, wantedStack);
  const given = koffi.config();
  try {
    const { sync_stack_size: own, async_stack_size: others } = given;
    koffi.config({ sync_stack_size: large(own), async_stack_size: large(others) });
  } catch {
    // Somebody has loaded a library before: what counts is what there is now.
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
