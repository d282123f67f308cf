import { once } from "node:events";
import { createServer, request } from "node:http";
import { buffer } from "node:stream/consumers";

/** What an S3 server has done: requests by kind, and the bytes of their contents. */
export interface StoreCounts {
  /** PUT, POST and lists, which providers price alike. */
  writes: number;
  /** GET and HEAD. */
  reads: number;
  deletes: number;
  /** Reads of objects that did not exist. */
  misses: number;
  written: number;
  read: number;
}

/** A proxy in front of an S3 server that counts. */
export interface CountedStore {
  url: string;
  counts(): StoreCounts;
  stop(): void;
}

/** Starts a counting proxy in front of the S3 server at a port. */
export async function countedStore(port: number): Promise<CountedStore> {
  const counts: StoreCounts = { writes: 0, reads: 0, deletes: 0, misses: 0, written: 0, read: 0 };
  const server = createServer(async (asked, response) => {
    const body = await buffer(asked);
    const { method = "", url = "", headers } = asked;
    const passed = request({ host: "127.0.0.1", port, method, path: url, headers });
    passed.on("error", () => response.destroy());
    passed.on("response", async (answer) => {
      const content = await buffer(answer);
      const { statusCode = 500 } = answer;
      counts[kindOf(method, url)]++;
      counts.written += method === "PUT" ? body.length : 0;
      counts.read += method === "GET" && statusCode < 300 ? content.length : 0;
      counts.misses += statusCode === 404 ? 1 : 0;
      response.writeHead(statusCode, answer.headers).end(content);
    });
    passed.end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const own = typeof address === "object" ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${own}`,
    counts: () => ({ ...counts }),
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function kindOf(method: string, url: string): "writes" | "reads" | "deletes" {
  if (method === "DELETE") return "deletes";
  const isList = method === "GET" && /[?&](list-type|uploads)\b/.test(url);
  return isList || method === "PUT" || method === "POST" ? "writes" : "reads";
}
