import { isEverturnError } from "../errors/everturn-error.ts";
import { messageOf } from "../errors/message-of.ts";

/** Why a process of ours ended. */
export interface Ending {
  reason: string;
  outOfMemory: boolean;
  /** The last lines of its log. */
  lines: string;
}

/** What is known of a process that ended by itself. */
interface Facts {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** What it wrote to its log. */
  output: string;
  /** The last lines of that. */
  lines: string;
  /** The kernel killed a process for want of memory just then (`watchKernelKills`). */
  kernelKilled: boolean;
}

/** 128 + SIGKILL: how a shell or a container reports a process that was killed. */
const killedCode = 137;

/** Says why a process ended, and whether it was for want of memory: V8's heap limit, an allocation, the kernel. */
export function endingOf({ code, signal, output, lines, kernelKilled }: Facts): Ending {
  const ended = signal ?? `exit code ${code}`;
  const memory = (reason: string, line = lines) => ({
    reason: `${reason}, ${ended}`,
    outOfMemory: true,
    lines: line,
  });
  if (signal === "SIGKILL" || code === killedCode) {
    // A process that is killed writes nothing: what its log says of memory was before.
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

/** The ending of a process that could not be started, from the error that its start threw. */
export function endingFrom(error: unknown): Ending {
  const params = isEverturnError(error) ? error.params : {};
  const message = messageOf(error);
  return {
    reason: String(params.reason ?? message.split("\n")[0]),
    outOfMemory: isEverturnError(error) && error.code === "WORKER_OUT_OF_MEMORY",
    lines: String(params.lines ?? params.reason ?? message),
  };
}
