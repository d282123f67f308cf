import { once } from "node:events";
import { readFileSync } from "node:fs";
import {
  connect,
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { Certificate } from "./certificates.ts";

/** A gRPC status and its message. */
export interface Refusal {
  code: number;
  message: string;
}

/** Returns a refusal for a call, for example `StartWorkflowExecution`, or undefined to pass it on. */
export type Rule = (call: string, headers: IncomingHttpHeaders) => Refusal | undefined;

/** A gateway before a Temporal server, as hosted servers have one. */
export interface Gateway {
  address: string;
  /** Replaces the rule for new calls. */
  refuse(rule: Rule): void;
  stop(): Promise<void>;
}

/** A rule that accepts only callers with this API key. */
export function requireKey(apiKey: string): Rule {
  return (_, { authorization }) =>
    authorization === `Bearer ${apiKey}` ? undefined : { code: 16, message: "Request unauthorized." };
}

/**
 * Starts a gateway on a loopback port that passes gRPC calls on to the Temporal server at `upstream`. With
 * `certificate` it requires TLS, with `clients` (the path of a certificate authority) also a client certificate.
 */
export async function startGateway(
  upstream: string,
  options: { certificate?: Certificate; clients?: string; rule?: Rule; port?: number } = {},
): Promise<Gateway> {
  const { certificate, clients, port = 0 } = options;
  let rule: Rule = options.rule ?? (() => undefined);
  const server: Http2Server =
    certificate === undefined
      ? createServer()
      : createSecureServer({
          cert: readFileSync(certificate.cert),
          key: readFileSync(certificate.key),
          ...(clients === undefined
            ? {}
            : { ca: readFileSync(clients), requestCert: true, rejectUnauthorized: true }),
        });
  const sessions = new Set<{ destroy(): void }>();
  server.on("session", (session) => {
    const forward = connect(`http://${upstream}`);
    for (const one of [session, forward]) {
      sessions.add(one);
      one.on("error", () => {}); // either side went away, and the other one closes
      one.on("close", () => sessions.delete(one));
    }
    session.on("close", () => forward.destroy());
    forward.on("close", () => session.destroy());
    session.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      stream.on("error", () => {}); // the caller cancelled
      const refusal = rule(String(headers[":path"]).split("/").at(-1) ?? "", headers);
      if (refusal !== undefined) return refuse(stream, refusal);
      if (forward.closed || forward.destroyed) return stream.close();
      const passed = forward.request(headers);
      passed.on("error", () => stream.close());
      stream.on("close", () => passed.close());
      stream.pipe(passed);
      passed.on("response", (answer, flags) => {
        if ((flags & 1) !== 0) return stream.respond(answer, { endStream: true }); // trailers only
        stream.respond(answer, { waitForTrailers: true });
        let trailers: IncomingHttpHeaders = {};
        passed.on("trailers", (received) => {
          trailers = received;
        });
        stream.on("wantTrailers", () => stream.sendTrailers(trailers));
        passed.pipe(stream);
      });
    });
  });
  server.on("sessionError", () => {}); // a refused handshake
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("the gateway has no port");
  return {
    address: `127.0.0.1:${bound.port}`,
    refuse: (next) => {
      rule = next;
    },
    stop: async () => {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function refuse(stream: ServerHttp2Stream, { code, message }: Refusal): void {
  const headers = { ":status": 200, "content-type": "application/grpc" };
  stream.respond(
    { ...headers, "grpc-status": code, "grpc-message": encodeURI(message) },
    { endStream: true },
  );
  stream.resume();
}
