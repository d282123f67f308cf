import { once } from "node:events";
import type { Server } from "node:http";
import { isIP } from "node:net";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";

/** Starts listening and returns the URL. Port 0 means any free one. Throws PORT_UNUSABLE. */
export async function listen(server: Server, host: string, port: number): Promise<string> {
  server.on("clientError", (_, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
  });
  server.keepAliveTimeout = 75_000;
  server.listen(port, host, 4096);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new EverturnError("PORT_UNUSABLE", { host, port, reason: messageOf(error) }, { cause: error });
  }
  const address = server.address();
  const taken = typeof address === "object" && address !== null ? address.port : port;
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${taken}`;
}
