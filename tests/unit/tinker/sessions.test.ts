import { expect, onTestFinished, test, vi } from "vitest";
import { TinkerClient } from "../../../packages/tinker/index.ts";
import { jsonServer } from "../../support/json-server.ts";

/** Lets a test move the clock of heartbeats. */
function movableClock(): (milliseconds: number) => Promise<unknown> {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  return (milliseconds) => vi.advanceTimersByTimeAsync(milliseconds);
}

test("a session sends a heartbeat every ten seconds until it is closed", async () => {
  const advance = movableClock();
  const { url, asked } = await jsonServer(({ path }) => ({
    value: path.endsWith("create_session") ? { session_id: "s1", warning_message: "beta" } : {},
  }));
  const session = await new TinkerClient({ baseUrl: url }).createSession();
  expect(session.messages).toEqual(["beta"]);
  const beats = () => asked.filter(({ path }) => path.endsWith("session_heartbeat"));
  for (let count = 1; count <= 3; count += 1) {
    await advance(10_000);
    await vi.waitFor(() => expect(beats()).toHaveLength(count), 10_000);
  }
  expect(beats()[0]!.body).toEqual({ session_id: "s1", type: "session_heartbeat" });
  session.close();
  await advance(60_000);
  expect(beats()).toHaveLength(3);
});

test("a failed heartbeat shows until one succeeds; a dropped session gets no more", async () => {
  const advance = movableClock();
  const statuses = [503, 200, 404];
  const { url, asked } = await jsonServer(() => {
    const status = statuses.shift() ?? 200;
    return { status, value: status === 404 ? { detail: "Session not found" } : {} };
  });
  const session = new TinkerClient({ baseUrl: url }).session("s1");
  onTestFinished(() => session.close());
  await advance(10_000);
  await vi.waitFor(() => expect(session.heartbeatFailure).toMatchObject({ code: "server" }), 10_000);
  await advance(10_000);
  await vi.waitFor(() => expect(session.heartbeatFailure).toBeUndefined(), 10_000);
  await advance(10_000);
  await vi.waitFor(() => expect(session.heartbeatFailure).toMatchObject({ code: "unknown-session" }), 10_000);
  await advance(60_000);
  expect(asked).toHaveLength(3);
});

test("the client's signal ends the heartbeats of its sessions", async () => {
  const advance = movableClock();
  const { url, asked } = await jsonServer(() => ({ value: {} }));
  const controller = new AbortController();
  new TinkerClient({ baseUrl: url, signal: controller.signal }).session("s1");
  controller.abort();
  await advance(60_000);
  expect(asked).toEqual([]);
});

test("sampling sessions are created at once or later, and models are unloaded on every server", async () => {
  const { url, asked } = await jsonServer(({ path, body }) => {
    if (path.endsWith("retrieve_future")) return { value: { sampling_session_id: "later" } };
    if (body.base_model === "slow") return { value: { request_id: "f1", sampling_session_id: null } };
    if (path.includes("unload_model")) return { value: { model_id: "m 1", status: "unloaded" } };
    return { value: { sampling_session_id: "now" } };
  });
  const session = new TinkerClient({ baseUrl: url }).session("s1");
  onTestFinished(() => session.close());
  const now = await session.createSampler({ modelPath: "tinker://m/weights/a" });
  const later = await session.createSampler({ baseModel: "slow" });
  expect([now.target, later.target]).toEqual([{ samplingSessionId: "now" }, { samplingSessionId: "later" }]);
  await session.model("m 1").unload();
  expect(asked[0]!.body).toMatchObject({ model_path: "tinker://m/weights/a", sampling_session_seq_id: 0 });
  expect(asked.at(-1)).toMatchObject({
    path: "/api/v1/unload_model?model_id=m%201",
    body: { model_id: "m 1", type: "unload_model" },
  });
});

test("a loss of the caller gets an id, which passes name", async () => {
  const { url, asked } = await jsonServer(({ path }) => ({
    value: path.endsWith("retrieve_future") ? { loss_id: "loss-1" } : { request_id: "f1" },
  }));
  const session = new TinkerClient({ baseUrl: url }).session("s1");
  onTestFinished(() => session.close());
  const graph = { format: 1, nodes: [{ op: "placeholder", name: "logprobs", target: "logprobs" }] } as const;
  const loss = { name: "mine", inputs: [{ name: "logprobs", rank: 1 }], graph } as const;
  expect(await session.createCustomLoss(loss)).toBe("loss-1");
  expect(asked[0]!.body).toMatchObject({ session_id: "s1", custom_loss_seq_id: 0, ...loss });
});
