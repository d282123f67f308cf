import { isEverturnError } from "../errors/everturn-error.ts";
import { messageOf } from "../errors/message-of.ts";

/** Why one of Everturn's processes ended. */
export interface Ending {
  reason: string;
  outOfMemory: boolean;
  /** The last lines of its log. */
  lines: string;
}

/** The facts about a process that ended by itself. */
interface Facts {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Everything it wrote to its log. */
  output: string;
  /** The last lines of `output`. */
  lines: string;
  /** Whether the kernel killed a process for lack of memory at that moment (`watchKernelKills`). */
  kernelKilled: boolean;
}

/** 128 + SIGKILL: how a shell or a container reports a process that was killed. */
const killedCode = 137;

/**
 * Explains why a process ended, and whether it ran out of memory: V8's heap limit, a failed allocation, or the
 * kernel.
 */
export function endingOf({ code, signal, output, lines, kernelKilled }: Facts): Ending {
  const ended = signal ?? `exit code ${code}`;
  const memory = (reason: string, line = lines) => ({
    reason: `${reason}, ${ended}`,
    outOfMemory: true,
    lines: line,
  });
  if (signal === "SIGKILL" || code === killedCode) {
    // A killed process writes nothing more, so its log's lines about memory are older.
    return kernelKilled
      ? memory("the kernel killed it because memory ran out")
      : { reason: ended, outOfMemory: false, lines };
  }
  const [heap] =
    /.*(FATAL ERROR: .*heap|Fatal process out of memory|Fatal JavaScript out of memory).*/i.exec(output) ??
    [];
  if (heap !== undefined) return memory("its JavaScript heap is full", heap);
  const [allocation] =
    /.*(std::bad_alloc|Cannot allocate memory|_OUT_OF_MEMORY|Array buffer allocation failed).*/.exec(
      output,
    ) ?? [];
  if (allocation !== undefined) return memory("an allocation failed", allocation);
  return { reason: ended, outOfMemory: false, lines };
}

/** The ending of a process that could not start, from the error that its start threw. */
export function endingFrom(error: unknown): Ending {
  const params = isEverturnError(error) ? error.params : {};
  const message = messageOf(error);
  return {
    reason: String(params.reason ?? message.split("\n")[0]),
    outOfMemory: isEverturnError(error) && error.code === "WORKER_OUT_OF_MEMORY",
    lines: String(params.lines ?? params.reason ?? message),
  };
}
