import { once } from "node:events";
import { createServer, request } from "node:http";
import { buffer } from "node:stream/consumers";

/** A way to a server, on which requests are seen and changed, and answers get lost. */
export interface Way {
  url: string;
  /** Called before a request is forwarded. `path` is that below `/api/v1/`. A returned body replaces the request's own. */
  before: (path: string, body: Buffer) => Buffer | undefined;
  /** Whether the connection breaks after the server has answered. */
  isLost: (path: string) => boolean;
  close(): Promise<void>;
}

/** Opens a way on loopback that forwards all requests to `target`. */
export async function wayTo(target: string): Promise<Way> {
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const { method, headers, url = "" } = incoming;
    const path = url.replace("/api/v1/", "").replace(/\?.*/, "");
    const sent = way.before(path, body) ?? body;
    const { "content-length": _, "transfer-encoding": __, ...others } = headers;
    const forwarded = request(target + url, {
      method,
      headers: { ...others, "content-length": sent.length },
    });
    forwarded.on("error", () => incoming.socket.destroy());
    forwarded.on("response", async (answer) => {
      const bytes = await buffer(answer).catch(() => undefined);
      if (bytes === undefined || way.isLost(path)) {
        incoming.socket.destroy();
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.end(bytes);
    });
    forwarded.end(sent);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the way has no port");
  const way: Way = {
    url: `http://127.0.0.1:${address.port}`,
    before: () => undefined,
    isLost: () => false,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return way;
}
