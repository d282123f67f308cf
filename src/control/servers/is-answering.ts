import { once } from "node:events";
import { connect } from "node:net";

/** Milliseconds for an answer. */
const limit = 10_000;

/** Whether a server works: it answers a path, or accepts connections. */
export async function isAnswering(port: number, ready: string | undefined): Promise<boolean> {
  const signal = AbortSignal.timeout(limit);
  try {
    if (ready !== undefined) return (await fetch(`http://127.0.0.1:${port}${ready}`, { signal })).ok;
    const socket = connect({ port, host: "127.0.0.1", signal });
    await once(socket, "connect", { signal });
    socket.destroy();
    return true;
  } catch {
    return false; // it does not work yet
  }
}
