import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { extname, join } from "node:path";
import type { ImageAnswer, ImageRequest, MadeImage } from "./protocol.ts";

/**
 * The environment variables that a child gets, without secrets. By the EVERTURN_… variables it can be found
 * after its worker has died.
 */
const kept = /^(PATH|HOME|LANG|TMPDIR|TEMP|TMP|SystemRoot|EVERTURN_(THREAD|LEASE))$/;
/** Milliseconds after which an idle child ends. */
const idleTime = 30_000;

const idle = new Map<ChildProcess, NodeJS.Timeout>();

/**
 * Asks a separate process, idle or new, about an image. The process is killed after `time` seconds, and when
 * the signal aborts. Throws an error that explains why the image can't be used, or the signal's reason.
 */
export async function askAboutImage(
  request: ImageRequest,
  { limits: { time }, signal }: { limits: { time: number }; signal: AbortSignal },
): Promise<MadeImage> {
  signal.throwIfAborted();
  const child = idleChild() ?? startChild();
  const over = AbortSignal.any([signal, AbortSignal.timeout(time * 1000)]);
  const kill = () => void child.kill("SIGKILL");
  over.addEventListener("abort", kill);
  const own = new AbortController(); // removes the listener that did not fire
  try {
    const answer = once(child, "message", { signal: own.signal }).then(([one]): ImageAnswer => one);
    const end = once(child, "close", { signal: own.signal });
    child.send(request);
    const told = await Promise.race([answer, end.then(([code, how]) => ended(code ?? how))]);
    if ("image" in told) return told.image;
    throw new Error(told.refused);
  } catch (error) {
    signal.throwIfAborted();
    if (over.aborted) throw new Error(`decoding it took more than ${time} s`);
    throw error;
  } finally {
    own.abort();
    over.removeEventListener("abort", kill);
    rest(child);
  }
}

function ended(how: unknown): ImageAnswer {
  return { refused: `the process that decodes it ended (${how})` };
}

function idleChild(): ChildProcess | undefined {
  for (const [child, timer] of idle) {
    clearTimeout(timer);
    idle.delete(child);
    if (!isOver(child)) return hold(child, true);
  }
  return undefined;
}

function startChild(): ChildProcess {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.test(name)));
  const program = join(import.meta.dirname, `image-process${extname(import.meta.filename)}`);
  return spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program], {
    env,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "advanced",
  });
}

function rest(child: ChildProcess): void {
  if (isOver(child)) return;
  const timer = setTimeout(() => {
    idle.delete(child);
    child.kill("SIGKILL");
  }, idleTime);
  idle.set(hold(child, false), timer.unref());
}

/** An idle child does not keep this process alive. */
function hold(child: ChildProcess, isBusy: boolean): ChildProcess {
  for (const handle of [child, child.channel]) isBusy ? handle?.ref() : handle?.unref();
  return child;
}

function isOver(child: ChildProcess): boolean {
  return child.killed || !child.connected || child.exitCode !== null || child.signalCode !== null;
}
