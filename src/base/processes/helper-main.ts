import { pathToFileURL } from "node:url";
import { messageOf } from "../errors/message-of.ts";
import type { HelperReply } from "./helper-processes.ts";

// A helper process: `node helper-main MODULE MEMORY`. It answers its parent's requests with MODULE's default
// export, and ends with its parent, or when it holds more than MEMORY MiB.

const [, , path = "", memory = "0"] = process.argv;

/** Loaded while the first request is under way, so that a module that fails to load refuses it. */
const loaded: Promise<{ default: (request: unknown) => Promise<unknown> }> = import(pathToFileURL(path).href);
loaded.catch(() => {}); // each request reports it

async function replyTo(request: unknown): Promise<HelperReply<unknown>> {
  try {
    return { answer: await (await loaded).default(request) };
  } catch (error) {
    return { refused: messageOf(error) };
  }
}

function end(): void {
  process.kill(process.pid, "SIGKILL");
}

function send(reply: HelperReply<unknown>, after: () => void = () => {}): void {
  process.send?.(reply, after);
}

setInterval(() => {
  if (process.memoryUsage.rss() > Number(memory) * 2 ** 20)
    send({ refused: `it takes more than ${memory} MiB of memory` }, end);
}, 50);
process.on("message", async (request) => send(await replyTo(request)));
process.on("disconnect", end);
