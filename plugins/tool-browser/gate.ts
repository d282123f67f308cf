import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { type Duplex, pipeline } from "node:stream";
import { allowedAddress, type HostRules } from "./hosts.ts";

/**
 * A proxy that is the browser's only way to the network. It checks which hosts may be contacted. The
 * browser's own checks miss some requests: redirects, WebSockets, workers, downloads, and the browser's
 * background requests all pass through here.
 */
export interface Gate {
  port: number;
  /** Why a host was refused. Undefined if it was not. */
  refusal(url: string): string | undefined;
  close(): void;
}

/** Milliseconds after which a silent connection ends. */
const silence = 60_000;

/** The maximum number of hosts whose refusals are remembered. */
const most = 1000;

/** Opens a gate on a port of the loopback interface. */
export async function openGate(rules: HostRules): Promise<Gate> {
  const refusals = new Map<string, string>();

  async function addressOf(host: string, port: number): Promise<string> {
    try {
      return await allowedAddress(host, port, rules);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (refusals.size >= most) refusals.clear();
      refusals.set(`${host}:${port}`, reason);
      throw error;
    }
  }

  async function forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { hostname, port, pathname, search, host } = new URL(incoming.url ?? "");
    const { "proxy-connection": _, ...headers } = incoming.headers;
    const number = Number(port || 80);
    const address = await addressOf(bare(hostname), number);
    const outgoing = request({
      host: address,
      port: number,
      path: `${pathname}${search}`,
      method: incoming.method,
      headers: { ...headers, host },
      timeout: silence,
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("it says nothing")));
    outgoing.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, response, () => {});
    });
    outgoing.on("error", () =>
      response.headersSent ? response.destroy() : refuse(response, 502, "no answer"),
    );
    response.on("close", () => outgoing.destroy());
    pipeline(incoming, outgoing, () => {});
  }

  async function tunnel(target: string, client: Duplex, head: Buffer): Promise<void> {
    const { hostname, port } = new URL(`http://${target}`);
    const number = Number(port || 80);
    const server = connect({ host: await addressOf(bare(hostname), number), port: number });
    server.setTimeout(silence, () => server.destroy());
    server.on("connect", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      server.write(head);
      pipeline(client, server, client, () => {});
    });
    server.on("error", () => client.destroy());
    client.on("close", () => server.destroy());
  }

  const server = createServer((incoming, response) => {
    forward(incoming, response).catch((error: Error) => refuse(response, 403, error.message));
  });
  server.on("connect", (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on("error", () => client.destroy());
    tunnel(incoming.url ?? "", client, head).catch(() => client.end("HTTP/1.1 403 Forbidden\r\n\r\n"));
  });
  server.on("upgrade", (_, client: Duplex) => client.destroy()); // Chromium opens a tunnel instead
  server.listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  const at = server.address();
  return {
    port: typeof at === "object" && at !== null ? at.port : 0,
    refusal(url) {
      if (!URL.canParse(url)) return undefined;
      const { hostname, port, protocol } = new URL(url);
      return refusals.get(`${bare(hostname)}:${port || (protocol === "https:" ? 443 : 80)}`);
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function refuse(response: ServerResponse, status: number, reason: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`not opened: ${reason}`);
}

/** A host without the brackets of an IPv6 address. */
function bare(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}
