import { once } from "node:events";
import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { afterAll, expect, test } from "vitest";
import { connectClient } from "../../../../src/control/temporal/client.ts";

/** gRPC's status codes. */
const [deadlineExceeded, notFound] = [4, 5];

const closing = new AbortController();
const servers: Http2Server[] = [];
afterAll(() => {
  closing.abort();
  for (const server of servers) server.close();
});

/** Answers a call with no message and a status. */
function answer(stream: ServerHttp2Stream, status: number, message: string): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () =>
    stream.sendTrailers({ "grpc-status": String(status), "grpc-message": message }),
  );
  stream.end();
}

/**
 * A server that was stopped for long and goes on: first its calls have run out of time, then it knows no workflow. So many of
 * those that connect are not answered.
 */
async function busyServer(failures: number, silences = 0) {
  const calls: string[] = [];
  const server = createServer();
  servers.push(server);
  server.on("stream", (stream, headers) => {
    const call = String(headers[":path"]).split("/").at(-1) ?? "";
    calls.push(call);
    if (calls.length <= silences) return;
    if (call === "GetSystemInfo") {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(Buffer.alloc(5)); // an empty message
    } else if (calls.filter((one) => one === call).length <= failures) {
      answer(stream, deadlineExceeded, "context deadline exceeded");
    } else answer(stream, notFound, "workflow not found");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const at = server.address();
  const port = typeof at === "object" ? at?.port : undefined;
  return { calls, address: `127.0.0.1:${port}` };
}

test("a server that had no time for a call is asked again", async () => {
  const { calls, address } = await busyServer(3);
  const location = { address, namespace: "default", isOwn: true };
  const { client, close } = await connectClient(location, [], closing.signal, { outlastsOutages: true });
  await expect(client.workflow.getHandle("run").result()).rejects.toThrow(/not found/i);
  expect(calls.filter((call) => call === "GetWorkflowExecutionHistory")).toHaveLength(4);
  closing.abort();
  await close();
});

test("the run's own server is waited for when it is stopped before anybody has connected", async () => {
  const { calls, address } = await busyServer(0, 1);
  const location = { address, namespace: "default", isOwn: true };
  const session = new AbortController();
  const { close } = await connectClient(location, [], session.signal, { outlastsOutages: true });
  expect(calls.length).toBeGreaterThan(1);
  session.abort();
  await close();
});
