import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { killMarked } from "../../base/processes/marked-processes.ts";
import { guardTerminal } from "../../base/processes/terminal.ts";
import { defined } from "../../base/records/defined.ts";
import type { FromHost, HostedFailure, ToHost } from "./host-protocol.ts";
import type { PluginFunctions } from "./protocol.ts";
import { type RunningThread, startThread, threadVariable } from "./running-thread.ts";
import { errorOf, thrownData } from "./thrown-data.ts";

// The process of a plugin host. It starts the threads of plugins and forwards its worker's requests to them.
// It ends with its worker.

interface Hosted {
  plugin: string;
  running: Promise<RunningThread>;
  mark: string;
  hasEnded: boolean;
  calls: Map<number, AbortController>;
  /** By call, the callback for the worker's confirmation that it has recorded what the call holds. */
  held: Map<number, (failure: string | undefined) => void>;
}

/** A failure for which the worker has its own message. */
class SaidByWorker extends Error {
  readonly failure: HostedFailure;
  constructor(failure: HostedFailure) {
    super(failure.type);
    this.failure = failure;
  }
}

// Plugins print to the worker's log. Its disk may be full or fail.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error) => {
    if (!("syscall" in error)) throw error;
  });
}

guardTerminal();

const threads = new Map<number, Hosted>();

function say(message: FromHost): void {
  process.send?.(message, undefined, undefined, () => {}); // ignored if the worker is gone
}

function start({ thread, kind, plugin, limit, mark }: Extract<ToHost, { type: "start" }>): void {
  const running = startThread(
    {
      kind,
      plugin,
      limit,
      mark,
      errors: {
        timedOut: () => new SaidByWorker({ type: "timed out" }),
        failed: (reason, cause) =>
          new SaidByWorker(
            defined({
              type: "failed",
              reason,
              cause: cause === undefined ? undefined : thrownData(cause),
            }),
          ),
      },
      log: (text) => say({ type: "log", thread, text }),
    },
    () => {
      hosted.hasEnded = true;
      say({ type: "ended", thread });
    },
  );
  const hosted: Hosted = {
    plugin: plugin.name,
    running,
    mark,
    hasEnded: false,
    calls: new Map(),
    held: new Map(),
  };
  threads.set(thread, hosted);
  running.then(
    ({ functions }) => say({ type: "started", thread, functions: [...functions] }),
    (error: unknown) => say({ type: "unusable", thread, thrown: thrownData(error) }),
  );
}

async function ask(
  hosted: Hosted,
  { thread, call, name, request, tellsOver }: Extract<ToHost, { type: "ask" }>,
): Promise<void> {
  const { calls, held } = hosted;
  const controller = new AbortController();
  calls.set(call, controller);
  try {
    const running = await hosted.running;
    if (hosted.hasEnded) throw hasEnded(hosted); // the worker asked before it knew of the end
    const answer = await running.ask(
      name,
      request as PluginFunctions[typeof name]["request"],
      defined({
        signal: controller.signal,
        hold:
          name === "create" || name === "restore"
            ? (handle) =>
                new Promise<void>((resolve, reject) => {
                  held.set(call, (failure) =>
                    failure === undefined ? resolve() : reject(new Error(failure)),
                  );
                  say({ type: "hold", thread, call, handle });
                })
            : undefined,
        onOver: tellsOver ? () => say({ type: "over", thread, call }) : undefined,
      }),
    );
    say({ type: "answered", thread, call, answer });
  } catch (error) {
    const failure: HostedFailure =
      error instanceof SaidByWorker ? error.failure : { type: "thrown", thrown: thrownData(error) };
    say({ type: "failed", thread, call, failure });
  } finally {
    calls.delete(call);
  }
}

function hasEnded({ plugin }: Hosted): EverturnError {
  return new EverturnError("PLUGIN_THREAD_ENDED", { plugin, reason: "it ended just before" });
}

function end(thread: number, { running }: Hosted): void {
  void running
    .then((one) => one.end())
    .catch(() => {}) // it never started
    .then(() => {
      threads.delete(thread);
      say({ type: "closed", thread });
    });
}

function hear(message: ToHost): void {
  if (message.type === "ping") return void say({ type: "pong", ping: message.ping });
  if (message.type === "start") return void start(message);
  const hosted = threads.get(message.thread);
  if (hosted === undefined) return;
  switch (message.type) {
    case "ask":
      return void ask(hosted, message);
    case "abort":
      return void hosted.calls.get(message.call)?.abort(errorOf(message.reason));
    case "held":
      hosted.held.get(message.call)?.(message.failure);
      return void hosted.held.delete(message.call);
    case "forget":
      return void hosted.running.then(
        (one) => one.forget(message.state),
        () => {},
      );
    case "end":
      return void end(message.thread, hosted);
  }
}

for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => {}); // the whole process group gets these signals, and the worker decides when the host ends
process.on("message", hear);
process.once("disconnect", () => {
  for (const { mark } of threads.values()) {
    try {
      killMarked(threadVariable, mark);
    } catch (error) {
      process.stderr.write(`a plugin's process was not ended: ${messageOf(error)}\n`);
    }
  }
  process.kill(process.pid, "SIGKILL"); // ends even if its threads are busy
});
