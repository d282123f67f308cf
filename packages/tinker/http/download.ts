import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { TinkerError } from "../errors.ts";
import { connectionFailure } from "./connection.ts";
import { refusal } from "./refusal.ts";
import { answerOf, apiPath, type Connection, headersOf } from "./send.ts";
import { anySignal } from "./signals.ts";

/**
 * Writes the body at an address of the API to a file, which appears when it is complete. Returns its size in bytes. Follows one
 * redirection, without the API key if it leads to another server.
 */
export async function downloadTo(
  connection: Connection,
  path: string,
  file: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  const call = `GET ${apiPath}${path}`;
  const either = anySignal(connection.signal, signal);
  const first = new URL(`${connection.baseUrl}${apiPath}${path}`);
  const key = await connection.credential.current(either);
  const own = headersOf(key);
  const answer = await get(connection, first, call, own, either);
  const location = answer.headers.get("location");
  if (location === null || answer.status < 300 || answer.status >= 400)
    return store(answer, key, { call, file }, either);
  await answer.body?.cancel();
  const target = new URL(location, first);
  if (!target.protocol.startsWith("http"))
    throw new TinkerError(
      "not-supported",
      `${call}: the archive is ${target.href} on the server's machine. Copy it from there.`,
      { call, status: answer.status, detail: target.href },
    );
  const headers = target.origin === first.origin ? own : {};
  return store(await get(connection, target, call, headers, either), key, { call, file }, either);
}

async function get(
  { fetch }: Connection,
  url: URL,
  call: string,
  headers: Record<string, string>,
  signal: AbortSignal | undefined,
): Promise<Response> {
  try {
    return await fetch(url, { headers, redirect: "manual", signal: signal ?? null });
  } catch (error) {
    signal?.throwIfAborted();
    throw connectionFailure(call, error);
  }
}

async function store(
  response: Response,
  apiKey: string | undefined,
  { call, file }: { call: string; file: string },
  signal: AbortSignal | undefined,
): Promise<number> {
  if (!response.ok || response.body === null) throw refusal(await answerOf(response, apiKey), call);
  const partial = `${file}.partial`;
  const output = createWriteStream(partial);
  try {
    await pipeline(Readable.fromWeb(response.body), output, signal === undefined ? {} : { signal });
    await rename(partial, file);
    return output.bytesWritten;
  } catch (error) {
    await rm(partial, { force: true });
    signal?.throwIfAborted();
    throw isOfFiles(error) ? error : connectionFailure(call, error);
  }
}

/** Whether the disk failed rather than the connection. */
function isOfFiles(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && "path" in error;
}
