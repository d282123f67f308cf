import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import type { JsonObject } from "everturn/plugin";
import { pluginChecks } from "everturn/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import verlTool from "../../../plugins/tool-verl-tool/index.ts";
import { servedPlan } from "../../../src/apps/cli/commands/tools/served-plan.ts";
import { openHttpServer } from "../../../src/apps/serve/http-server.ts";
import { type ServedTools, serveTools } from "../../../src/apps/serve/served-tools.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import exchange from "./fixtures/verl-tool-exchange.json" with { type: "json" };

const { signal } = new AbortController();
const closers: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

/** A server that answers each request as it is told. */
let answer: (request: { path: string; body: JsonObject }, response: ServerResponse) => unknown = () => {};
const sent: JsonObject[] = [];
let url: string;
beforeAll(async () => {
  const server = createServer(async (request: IncomingMessage, response) => {
    let text = "";
    for await (const part of request) text += part;
    const body = text === "" ? {} : JSON.parse(text);
    if (text !== "") sent.push(body);
    answer({ path: request.url ?? "", body }, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/get_observation`;
  closers.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
});

async function opened(more: JsonObject = {}, at = url) {
  const config = { url: at, action: "{action}", extraFields: {}, watch: false, ...more };
  const task = {
    data_source: "d",
    prompt: [{ role: "user" as const, content: "" }],
    reward_model: { ground_truth: "" },
    extra_info: { index: 3 },
  };
  const held: unknown[] = [];
  const state = await verlTool.create?.({
    instance: "i",
    task,
    config,
    environment: {},
    signal,
    hold: (handle) => void held.push(handle),
  });
  if (state === undefined) throw new Error("there is no instance");
  const act = (action: string, key = "k") =>
    verlTool.execute(
      { action },
      { instance: "i", function: "act", key, attempt: 1, config, signal, isReplay: false },
      state,
    );
  return { act, held, release: () => verlTool.release?.(state) };
}

test("what verl-tool's own server answered is read as it means it", async () => {
  const { act, release, held } = await opened({ action: "<python>{action}</python>", extraFields: { a: 1 } });
  const read: unknown[] = [];
  for (const { request, status, response } of exchange) {
    answer = (_, to) => to.writeHead(status).end(JSON.stringify(response));
    const [action = ""] = request.actions;
    read.push(await Promise.resolve(act(action)).catch((error: Error) => error.message));
  }
  expect(read).toMatchInlineSnapshot(`
    [
      {
        "done": false,
        "text": "
    <result>
    42
    </result>
    ",
      },
      {
        "done": false,
        "text": "
    <result>
    Execution blocked: Code contains potentially dangerous operations or imports.
    </result>
    ",
      },
      {
        "done": false,
        "text": "
    <result>
    Traceback (most recent call last):
      File "main.py", line 82, in <module>
        1/0
    ZeroDivisionError: division by zero
    </result>
    ",
      },
      {
        "content": [],
        "done": false,
        "invalid": "No valid tool found for action",
        "text": "",
      },
      {
        "done": false,
        "text": "
    <result>
    Execution timed out after 10 seconds.
    </result>
    ",
      },
      "the server answered 422: {"detail":[{"type":"value_error","loc":["body","actions"],"msg":"Value error, Length of actions must match trajectory_ids","input":["a","b"],"ctx":{"error":{}}}]}",
      {
        "done": true,
        "text": "",
      },
    ]
  `);
  await release();
  const [first] = sent;
  expect(first).toMatchObject({ extra_fields: [{ index: 3, a: 1, call_id: "k" }], finish: [false] });
  expect(first?.actions).toEqual([`<python>${exchange[0]?.request.actions[0]}</python>`]);
  expect(sent.at(-1)).toMatchObject({
    trajectory_ids: first?.trajectory_ids,
    finish: [true],
    is_last_step: [true],
  });
  expect(held).toEqual([{ url, id: first?.trajectory_ids?.toString() }]);
});

test("an answer that is none is a failure of infrastructure", async () => {
  const { act } = await opened();
  const ok = { observations: ["a"], dones: [false], valids: [true] };
  const wrong: [number, string, string][] = [
    [500, '{"detail": "Processing failed"}', "the server answered 500: "],
    [200, "<html>", "not JSON"],
    [200, "", "not JSON"],
    ...[
      [],
      null,
      3,
      {},
      { ...ok, observations: [] },
      { ...ok, observations: [3] },
      { ...ok, observations: ["a", "b"] },
    ].map((body): [number, string, string] => [200, JSON.stringify(body), "no observation"]),
    [200, JSON.stringify({ ...ok, dones: ["no"] }), "does not say done"],
    [200, JSON.stringify({ ...ok, observations: [{ obs: 3 }] }), "not text"],
    [
      200,
      JSON.stringify({ ...ok, observations: [{ obs: "", error: "boom", tool_type: "t" }] }),
      "tool failed: boom",
    ],
    [200, "x".repeat(9 * 1024 * 1024), "longer than"],
  ];
  for (const [status, text, said] of wrong) {
    answer = (_, to) => to.writeHead(status).end(text);
    await expect(act("a")).rejects.toThrow(said);
  }
  answer = (_, to) => to.destroy();
  await expect(act("a")).rejects.toThrow("fetch failed");
  answer = (_, to) => to.writeHead(302, { location: "http://localhost:1/" }).end();
  await expect(act("a")).rejects.toThrow("fetch failed");
});

test("a server that was started again is told from one that was not, and one that is gone has nothing to free", async () => {
  let uptime = 1000;
  answer = ({ path }, to) =>
    to.end(
      JSON.stringify(
        path === "/health" ? { uptime_seconds: uptime } : { observations: ["a"], dones: [0], valids: [1] },
      ),
    );
  const { act } = await opened({ watch: true });
  expect(await act("a")).toEqual({ text: "a", done: false });
  uptime = 1;
  await expect(act("a")).rejects.toThrow("has forgotten the trajectory");
  const gone = createServer().listen(0, "127.0.0.1");
  await once(gone, "listening");
  const address = gone.address();
  const port = typeof address === "object" ? address?.port : 0;
  gone.close();
  await once(gone, "close");
  await verlTool.reap?.({ url: `http://127.0.0.1:${port}/get_observation`, id: "i" }, {});
});

test("Everturn's own server is one, and the tool keeps its promises with it", async () => {
  const pad = `${join(import.meta.dirname, "..", "..", "one-file", "served.ts")}#pad`;
  const options = { limit: 256, idle: 3_600_000, log: () => {} };
  const tools: ServedTools = await serveTools(await servedPlan([pad]), {
    folder: temporaryFolder(),
    ...options,
  });
  const served = await openHttpServer(tools, undefined, {
    host: "127.0.0.1",
    port: 0,
    token: "secret",
    ...options,
  });
  closers.push(
    () => served.close(),
    () => tools.close(),
  );
  const own = `${served.url}/get_observation?token=secret`;
  const config = { url: own, action: "<note>{action}</note>", watch: true };
  const { act, release } = await opened(config, own);
  expect(await act("x", "1")).toEqual({ text: "\n<result>\nuntitled, x\n</result>\n", done: false });
  expect(await act("x", "2")).toMatchObject({ text: "\n<result>\nuntitled, x, x\n</result>\n" });
  expect(await act("x", "2")).toMatchObject({ text: "\n<result>\nuntitled, x, x\n</result>\n" });
  await release();
  expect(tools.count()).toBe(0);
  const cases = [{ arguments: { action: "y" }, error: false }];
  for (const check of await pluginChecks("tool-verl-tool", { config, cases })) await check.run();
});
