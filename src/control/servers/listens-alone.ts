import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect, type Server } from "node:net";
import { isSystemError } from "../../base/errors/system-error.ts";
import { removeFile } from "../../base/files/remove-file.ts";

/**
 * Makes a server listen at the name of a local socket, unless another process does. Returns whether it listens. Where such
 * a name is a file, a killed process leaves it behind: nobody answers there, and it is replaced.
 */
export async function listensAlone(server: Server, path: string): Promise<boolean> {
  if (await listens(server, path)) return true;
  if (await isAnswered(path)) return false;
  if (existsSync(path)) removeFile(path);
  return listens(server, path);
}

async function listens(server: Server, path: string): Promise<boolean> {
  try {
    server.listen({ path });
    await once(server, "listening");
    return true;
  } catch (error) {
    if (isSystemError(error, "EADDRINUSE")) return false;
    throw error;
  }
}

async function isAnswered(path: string): Promise<boolean> {
  const socket = connect({ path });
  try {
    await once(socket, "connect");
    return true;
  } catch (error) {
    if (isSystemError(error, "ECONNREFUSED") || isSystemError(error, "ENOENT")) return false;
    throw error;
  } finally {
    socket.destroy();
  }
}
