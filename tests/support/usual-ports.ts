import { once } from "node:events";
import { createServer, type Server } from "node:net";

/**
 * Takes the ports that a run's server would rather have, for as long as tests run, so that each server has one of its own:
 * else one that starts in another test could take the port of one that is killed, and keep it from coming back.
 */
export default async function takeUsualPorts(): Promise<() => void> {
  const taken = await Promise.all([7233, 8233].map(take));
  return () => {
    for (const server of taken) server?.close();
  };
}

/** Undefined if somebody else has it. */
async function take(port: number): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy());
  server.listen(port, "127.0.0.1");
  const isTaken = await once(server, "listening").then(
    () => true,
    () => false,
  );
  return isTaken ? server : undefined;
}
