import { createServer, type Http2Server } from "node:http2";
import { Client, Connection } from "@temporalio/client";
import { afterEach, expect, test } from "vitest";
import { askTrajectory } from "../../../../src/work/agents/ask-trajectory.ts";

let server: Http2Server | undefined;
let connection: Connection | undefined;

afterEach(async () => {
  await connection?.close();
  server?.close();
});

/** gRPC's status codes. */
const [invalidArgument, notFound, failedPrecondition, unimplemented] = [3, 5, 9, 12];

/** A server that answers updates with these statuses, and then always with the last one. Counts the updates. */
async function client(...statuses: number[]) {
  const asked = { updates: 0 };
  server = createServer();
  server.on("stream", (stream, headers) => {
    const isUpdate = String(headers[":path"]).endsWith("/UpdateWorkflowExecution");
    const status = isUpdate ? (statuses[asked.updates++] ?? statuses.at(-1)) : unimplemented;
    stream.resume();
    stream.respond(
      {
        "content-type": "application/grpc",
        "grpc-status": String(status),
        "grpc-message": `status ${status}`,
      },
      { endStream: true },
    );
  });
  await new Promise<void>((listening) => server?.listen(0, "127.0.0.1", listening));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  connection = await Connection.connect({ address: `127.0.0.1:${port}` });
  const ask = askTrajectory(new Client({ connection }), "trajectory", new AbortController().signal);
  const request = { key: "key/1", messages: [], tools: [], callIds: {}, callsBefore: 0, answered: [] };
  return { asked, ask: () => ask(request) };
}

test("a request is repeated as long as the server can't finish the trajectory's workflow tasks", async () => {
  const { asked, ask } = await client(failedPrecondition, failedPrecondition, notFound);
  await expect(ask()).rejects.toThrow("The trajectory trajectory has ended");
  expect(asked.updates).toBe(3);
});

test("a request that the server can never accept fails at once", async () => {
  const { asked, ask } = await client(invalidArgument);
  await expect(ask()).rejects.toThrow("Workflow Update failed");
  expect(asked.updates).toBe(1);
});
