import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { freePort } from "../../src/temporal/free-port.ts";

const servers = join(import.meta.dirname, "..", "..", "node_modules", "@modelcontextprotocol");

/** The reference servers of the Model Context Protocol, as they are published. */
export const everything = join(servers, "server-everything", "dist", "index.js");
export const filesystem = join(servers, "server-filesystem", "dist", "index.js");

/** A configuration of tool-mcp that starts the server `everything`. */
export const byStdio = { command: process.execPath, args: [everything, "stdio"] };

/** Starts the server `everything` on a port of this machine; its URL. */
export async function everythingByHttp(
  kind: "streamableHttp" | "sse",
): Promise<{ url: string; child: ChildProcess }> {
  const port = await freePort(0);
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(process.execPath, [everything, kind], { env, stdio: ["ignore", "ignore", "pipe"] });
  let written = "";
  await new Promise<void>((resolve, reject) => {
    child.once("exit", () => reject(new Error(written)));
    child.stderr?.on("data", (text) => {
      written += text;
      if (/(listening|running) on port/i.test(written)) resolve();
    });
  });
  return { url: `http://127.0.0.1:${port}/${kind === "sse" ? "sse" : "mcp"}`, child };
}
