import { once } from "node:events";
import type { Server } from "node:http";
import { onTestFinished } from "vitest";

/** Lets a server listen on loopback until the test is over. Returns its URL. */
export async function onLoopback(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The server has no port.");
  return `http://127.0.0.1:${address.port}`;
}
