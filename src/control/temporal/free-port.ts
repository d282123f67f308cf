import { createServer } from "node:net";
import { EverturnError } from "../../base/errors/everturn-error.ts";

/** `preferred` if nothing listens there, else any free port of loopback. Throws NO_FREE_PORT. */
export async function freePort(preferred: number): Promise<number> {
  for (const port of [preferred, 0]) {
    const free = await new Promise<number | undefined>((resolve) => {
      const server = createServer();
      server.once("error", () => resolve(undefined));
      server.listen(port, "127.0.0.1", () => {
        const address = server.address();
        server.close(() =>
          resolve(typeof address === "object" && address !== null ? address.port : undefined),
        );
      });
    });
    if (free !== undefined) return free;
  }
  throw new EverturnError("NO_FREE_PORT", { preferred });
}
