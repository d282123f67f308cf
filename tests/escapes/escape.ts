import type { Language, Ran } from "everturn/sandbox";

/** What of the machine around a sandbox a program may try to reach. */
export interface Surroundings {
  /** A file that every user may read, and the word in it. Nobody's output may hold that word. */
  secretFile: string;
  secret: string;
  /** A service on loopback, as a run's own Temporal server is. */
  port: number;
  /** A UNIX socket in the file system, and one in the network's abstract names. */
  socketFile: string;
  socketName: string;
  /** A process of the machine that must live, and the words in its command line. */
  victim: number;
  victimName: string;
}

/** A program that tries to get out, to harm others, or to take more than it is given. It prints ESCAPED where it has succeeded. */
export interface Escape {
  name: string;
  language?: Language;
  code(around: Surroundings): string;
  /** What the model may be told of it; a program that catches its refusal has finished. Default: finished or failed. */
  told?: readonly Ran["outcome"][];
  /** What the model may be told of it in the sandbox `wasm`, where that differs. */
  toldInWasm?: readonly Ran["outcome"][];
  /** Why its success is none in the sandbox `wasm`: it is not tried there. */
  meansNothingInWasm?: string;
  /** Programs that run after it in the same session, and what each must answer. */
  afterwards?: readonly { code: string; value: string }[];
  /** Its files may leave no room for others, until they are removed. */
  fillsDisk?: boolean;
  /** What it has started may bring down the session that it is in, with its files, while it runs no more. */
  mayLoseFiles?: boolean;
  /** It runs in an interpreter that is kept. */
  keep?: boolean;
  /** It takes all of its time or memory: not run with the unit tests. */
  isHeavy?: boolean;
}

/** Python that runs `attempt`, and says ESCAPED unless that throws. */
export function refused(attempt: string): string {
  const lines = attempt.split("\n").map((line) => `    ${line}`);
  return [
    "try:",
    ...lines,
    "except Exception as error:",
    "    print(type(error).__name__)",
    "else:",
    "    print('ESCAPED')",
  ].join("\n");
}

/** Python that makes a call of the C library, and says ESCAPED unless it answers -1. */
export function call(name: string, ...parameters: string[]): string {
  return `import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nresult = libc.${name}(${parameters.join(", ")})\nif result == -1: print('refused', ctypes.get_errno())\nelse: print('ESCAPED', result)`;
}
