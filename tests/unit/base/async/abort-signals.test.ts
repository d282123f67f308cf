import { getEventListeners } from "node:events";
import { Client, Connection } from "@temporalio/client";
import { expect, onTestFinished, test } from "vitest";
import { withOwnSignal } from "../../../../src/base/async/abort-signals.ts";

test("calls of Temporal's client leave nothing on the signal that ends them all, and end when it aborts", async () => {
  const connection = Connection.lazy({ address: "127.0.0.1:9" }); // nobody listens there
  onTestFinished(() => connection.close());
  const client = new Client({ connection });
  const closing = new AbortController();
  const call = () =>
    withOwnSignal(closing.signal, (own) =>
      client.withDeadline(Date.now() + 100, () =>
        client.withAbortSignal(own, () => connection.workflowService.getSystemInfo({})),
      ),
    );
  for (let calls = 0; calls < 3; calls++) await expect(call()).rejects.toThrow();
  expect(getEventListeners(closing.signal, "abort")).toHaveLength(0);

  const waiting = withOwnSignal(closing.signal, (own) =>
    client.withAbortSignal(own, () => connection.workflowService.getSystemInfo({})),
  );
  closing.abort();
  await expect(waiting).rejects.toThrow(/cancel/i);
  await expect(withOwnSignal(closing.signal, async (own) => own.aborted)).resolves.toBe(true);
});
