import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { ownerClient } from "./s3-server.ts";

/** What a proxy in front of an S3 server does with a request before it passes it on. */
export type Trouble = "none" | "slow-down" | "close" | "lose-answer" | "cut-answer" | "ignore-conditions";

/** A proxy in front of an S3 server. */
export interface S3Proxy {
  url: string;
  /** Requests, and those that were not simply passed on. */
  counts: { requests: number; troubles: number };
  stop(): void;
}

/** Starts a proxy in front of the server at a port. `troubleOf` decides about each request. */
export async function startS3Proxy(
  port: number,
  troubleOf: (request: IncomingMessage) => Trouble,
): Promise<S3Proxy> {
  const counts = { requests: 0, troubles: 0 };
  const server = createServer(async (asked, response) => {
    const body = await buffer(asked);
    const trouble = troubleOf(asked);
    counts.requests++;
    if (trouble !== "none") counts.troubles++;
    if (trouble === "slow-down") return slowDown(response);
    if (trouble === "close") return void response.destroy();
    if (trouble === "ignore-conditions" && asked.headers["if-none-match"] === "*")
      return putAnyway(port, asked, body, response);
    const { method, url: path, headers } = asked;
    const passed = request({ host: "127.0.0.1", port, method, path, headers });
    passed.on("error", () => response.destroy());
    passed.end(body);
    const [answer]: IncomingMessage[] = await once(passed, "response");
    if (answer === undefined) return;
    const content = await buffer(answer);
    if (trouble === "lose-answer") return void response.destroy();
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    if (trouble !== "cut-answer" || content.length === 0) return void response.end(content);
    response.write(content.subarray(0, content.length / 2), () => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const own = typeof address === "object" ? address?.port : 0;
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${own}`, counts, stop };
}

function slowDown(response: ServerResponse): void {
  response.writeHead(503, { "content-type": "application/xml" });
  response.end("<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>");
}

/** Does what a server does that ignores the condition: a request of its own, because the signature includes it. */
async function putAnyway(
  port: number,
  asked: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  const path = decodeURIComponent((asked.url ?? "").replace(/\?.*/, ""));
  const [, bucket = "", ...names] = path.split("/");
  await ownerClient(`http://127.0.0.1:${port}`).send(
    new PutObjectCommand({ Bucket: bucket, Key: names.join("/"), Body: body }),
  );
  response.writeHead(200).end();
}
