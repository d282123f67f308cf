import { jsonSchema, tool } from "ai";
import { idempotencyKey, recorded } from "everturn/agent";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { recordedTrajectory, stopAgent } from "../../../support/recorded-trajectory.ts";

afterEach(stopAgent);

test("the k-th call with the same arguments is given what the k-th one gave, and is made once", async () => {
  const { start } = recordedTrajectory();
  const made: unknown[] = [];
  const book = recorded("book", async (seat: { row: number; place?: string }) => {
    made.push([seat, idempotencyKey()]);
    return { ...seat, ticket: made.length, left: undefined };
  });
  await start();
  const first = [
    await book({ row: 1, place: "a" }),
    await book({ row: 1, place: "a" }),
    await book({ row: 2 }),
  ];
  expect(first).toEqual([1, 2, 3].map((ticket) => expect.objectContaining({ ticket })));
  expect(first[0]).not.toHaveProperty("left");
  await start(3);
  expect([
    await book({ place: "a", row: 1 }),
    await book({ row: 2 }),
    await book({ row: 1, place: "a" }),
  ]).toEqual([first[0], first[2], first[1]]);
  expect(made).toHaveLength(3);
  expect(new Set(made.map((one) => JSON.stringify(one))).size).toBe(3);
  expect(await book({ row: 1, place: "a" })).toMatchObject({ ticket: 4 });
  expect(idempotencyKey()).toBeUndefined();
});

test("a call whose process died has the same idempotency key when it is made again; what came of it is recorded once", async () => {
  const { start, records } = recordedTrajectory();
  const keys: unknown[] = [];
  let gate = Promise.withResolvers<void>();
  const pay = recorded("pay", async (amount: number, _: AbortSignal) => {
    keys.push(idempotencyKey());
    await gate.promise;
    return `${amount} paid`;
  });
  const { signal } = new AbortController();
  await start();
  const lost = pay(5, signal).catch((error: Error) => error.message);
  while (keys.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await stopAgent();
  gate.resolve();
  expect(await lost).toMatch(/fetch failed|refused/);
  gate = Promise.withResolvers<void>();
  gate.resolve();
  await start();
  expect(await pay(5, signal)).toBe("5 paid");
  expect(keys[0]).toMatch(/^r\/step-0001\/t\/0\/pay\/[0-9a-f]{16}\/1$/);
  expect(keys[1]).toBe(keys[0]);
  expect(await records()).toMatchObject([{ name: "pay", arguments: [5], outcome: { result: "5 paid" } }]);
});

test("a failure is no result: it is thrown again only where the agent went on after it", async () => {
  const { start, records } = recordedTrajectory();
  const made: string[] = [];
  const flaky = recorded("flaky", async () => {
    made.push(idempotencyKey() ?? "");
    if (made.length === 1) throw new Error("busy");
    return made.length;
  });
  const first = await start(2);
  await expect(flaky()).rejects.toThrow("busy");
  await start(2); // it died of it
  expect(await flaky()).toBe(2);
  expect(made[1]).toBe(made[0]);
  expect(first.madeFor({ id: "none", tool: "flaky", arguments: {} })).toBeUndefined();
  expect((await records()).map(({ outcome }) => outcome)).toEqual([{ error: "busy" }, { result: 2 }]);

  made.length = 0;
  const retried = recordedTrajectory();
  const process = await retried.start(2);
  await expect(flaky()).rejects.toThrow("busy");
  process.onTurn(); // the model was told
  expect(await flaky()).toBe(2);
  expect(made[1]).toBe(made[0]);
  await retried.start(3);
  await expect(flaky()).rejects.toThrow("busy");
  expect(await flaky()).toBe(2);
  expect(made).toHaveLength(2);
});

test("what JSON can't say is refused, and outside of a trajectory all is as it was", async () => {
  const { start, records } = recordedTrajectory();
  const when = recorded("when", () => new Date(0));
  expect(when()).toEqual(new Date(0));
  expect(() => recorded("none", { name: "none" })).toThrow("takes a function, or a tool");
  const { url } = await start();
  await expect(when()).rejects.toThrow("when gave what JSON can't say");
  expect(await records()).toMatchObject([{ outcome: { error: expect.stringContaining("JSON") } }]);
  const wrong = async (path: string, body: unknown) => {
    const headers = { authorization: "Bearer key" };
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return `${response.status} ${JSON.parse(await response.text()).error.message}`;
  };
  expect(await wrong("/recorded_calls", {})).toBe("400 name is missing: send a text.");
  expect(await wrong("/recorded_calls", { name: "a", call_id: 1 })).toBe("400 call_id is 1: send a text.");
  expect(await wrong("/recorded_calls", [])).toBe("400 The body is a list: send a JSON object.");
  expect(await wrong("/recorded_results", { id: "x", result: 1 })).toMatch(/^404 There is no running call x/);
  expect(await wrong("/recorded_results", { id: "x", result: 1, error: "e" })).toMatch(
    /^400 .*send one of them/,
  );
});

test("tools of the AI SDK and plain functions are made once, and known by the ids of their calls", async () => {
  const { start } = recordedTrajectory();
  let made = 0;
  const degrees = ({ city }: { city: string }) => `${city} ${++made}`;
  const parameters = z.object({ city: z.string() });
  const ofSdk = recorded("sdk", tool({ inputSchema: parameters, execute: degrees }));
  const series = recorded(
    "series",
    tool({
      inputSchema: jsonSchema<{ city: string }>({ type: "object" }),
      async *execute({ city }) {
        yield "wait";
        yield degrees({ city });
      },
    }),
  );
  const ofChat = recorded("chat", {
    type: "function" as const,
    function: { name: "chat", parameters: {}, parse: JSON.parse, function: degrees },
  });
  const inline = recorded("inline", (input: { city: string }, _: object) => degrees(input));
  const options = (toolCallId: string) => ({ toolCallId, messages: [], context: {} });
  const all = async () => [
    await ofSdk.execute?.({ city: "Oslo" }, options("call_1")),
    await series.execute?.({ city: "Oslo" }, options("call_2")),
    await ofChat.function.function({ city: "Oslo" }),
    await inline({ city: "Oslo" }, options("call_4")),
  ];
  await start();
  const first = await all();
  expect(first).toEqual([1, 2, 3, 4].map((number) => `Oslo ${number}`));
  const again = await start(1);
  expect(await all()).toEqual(first);
  expect(made).toBe(4);
  for (const [index, name] of ["sdk", "series", "chat", "inline"].entries()) {
    const call = { id: `call_${index + 1}`, tool: name, arguments: { city: "Oslo" } };
    expect(again.madeFor(call), name).toMatchObject({ attempts: 1 });
    expect(again.madeFor(call)).toBeUndefined();
  }
});
