import { hash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Agent, type IncomingMessage, request } from "node:http";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { EverturnError } from "../../src/base/errors/everturn-error.ts";
import { defined } from "../../src/base/records/defined.ts";
import type { Backend } from "../../src/run/store/backend.ts";
import { localCopies } from "../../src/run/store/local-copies.ts";

/** Tries of one request before it counts as failed for now. */
const tries = 12;

/** How a request is made, and what its answer says; it is made again until the answer is whole. */
interface Asked<Result> {
  method: "GET" | "HEAD" | "PUT" | "DELETE";
  headers?: Record<string, string | number>;
  body?: Uint8Array | { file: string };
  read: (answer: IncomingMessage) => Promise<Result>;
}

/**
 * Objects behind `object-server.ts`, whose tries are repeated: of one that failed nobody knows whether it took effect.
 * Trees have local copies in `cache`.
 */
export function objectBackend(port: number, cache: { cache: string; limit: number }): Backend {
  const agent = new Agent({ keepAlive: true });

  function once<Result>(path: string, { method, headers, body, read }: Asked<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const sent = request({ agent, host: "127.0.0.1", port, path: `/${path}`, method, headers });
      sent.on("error", reject);
      sent.on("response", (answer) => {
        answer.on("error", reject);
        read(answer).then(resolve, reject);
      });
      if (body === undefined || body instanceof Uint8Array) sent.end(body);
      else pipeline(createReadStream(body.file), sent).catch(reject);
    });
  }

  async function ask<Result>(path: string, asked: Asked<Result>): Promise<Result> {
    let last: unknown;
    for (let tried = 0; tried < tries; tried++) {
      try {
        return await once(path, asked);
      } catch (error) {
        last = error;
        await sleep(Math.min(5 * 2 ** tried, 500) * (0.5 + Math.random()));
      }
    }
    throw new EverturnError("STORE_NOT_WRITABLE", { file: path, reason: String(last) }, { cause: last });
  }

  /** Whether the answer's status is one of these. Any other than the known ones is tried again. */
  async function isStatus(answer: IncomingMessage, yes: number, no?: number): Promise<boolean> {
    answer.resume();
    if (answer.statusCode === yes) return true;
    if (answer.statusCode === no) return false;
    throw new Error(`the object store answers ${answer.statusCode}`);
  }

  async function contentOf(answer: IncomingMessage): Promise<Buffer | undefined> {
    if (!(await isThere(answer))) return undefined;
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk);
    const content = Buffer.concat(chunks);
    if (!answer.complete) throw new Error("the answer was cut");
    return content;
  }

  /** Like `isStatus`, but leaves the content to be read. */
  async function isThere(answer: IncomingMessage): Promise<boolean> {
    if (answer.statusCode === 200) return true;
    return isStatus(answer, 200, 404);
  }

  const put = (path: string, body: Uint8Array | { file: string }, size: number, isNew: boolean) =>
    ask(urlOf(path), {
      method: "PUT",
      headers: defined({ "content-length": size, "if-none-match": isNew ? "*" : undefined }),
      body,
      read: (answer) => isStatus(answer, 200, isNew ? 412 : undefined),
    });
  const remove = async (path: string) => {
    await ask(urlOf(path), { method: "DELETE", read: (answer) => isStatus(answer, 204) });
  };
  const get = (path: string) => ask(urlOf(path), { method: "GET", read: contentOf });
  const download = (path: string, file: string) =>
    ask(urlOf(path), {
      method: "GET",
      read: async (answer) => {
        if (!(await isThere(answer))) return false;
        await pipeline(answer, createWriteStream(file));
        return true;
      },
    });
  const upload = async (path: string, file: string) => {
    await put(path, { file }, (await stat(file)).size, false);
  };
  const copies = localCopies({ upload, download, remove }, cache);

  return {
    ...copies,
    put: (path, content) => put(path, content, content.length, true),
    get,
    remove,
    size: (path) =>
      ask(urlOf(path), {
        method: "HEAD",
        read: async (answer) =>
          (await isStatus(answer, 200, 404)) ? Number(answer.headers["content-length"]) : undefined,
      }),
    digest: async (path) => {
      const content = await get(path);
      if (content === undefined) return undefined;
      return { size: content.length, sha256: hash("sha256", content) };
    },
    page: async (prefix, after) => {
      const query = new URLSearchParams(defined({ prefix, after }));
      return JSON.parse(String(await ask(`?${query}`, { method: "GET", read: contentOf })));
    },
    sweep: async () => 0,
  };
}

/** A path of an object in a URL, in which `..`, however it is written, would mean another one. */
function urlOf(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}
