import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { servedPlan } from "../../../../src/apps/cli/commands/tools/served-plan.ts";
import { openHttpServer } from "../../../../src/apps/serve/http-server.ts";
import { openMcp } from "../../../../src/apps/serve/mcp.ts";
import { type ServedTools, serveTools } from "../../../../src/apps/serve/served-tools.ts";
import { oddTargets, rawRequest } from "../../../support/raw-request.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const one = (name: string) => join(import.meta.dirname, "..", "..", "..", "one-file", name);
let url: string;
let tools: ServedTools;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const files = [
    "served.ts#pad",
    "served.ts#held",
    "served.ts#screen",
    "length.ts",
    "notes.ts#restored",
    "patterned.ts",
  ];
  const log = () => {};
  const limits = { limit: 8, idle: 3_600_000, log };
  tools = await serveTools(await servedPlan(files.map(one)), { folder: join(folder, "leases"), ...limits });
  const mcp = await openMcp(tools, { limit: 2, log });
  const server = await openHttpServer(tools, mcp, { host: "127.0.0.1", port: 0, limit: 64, log });
  url = server.url;
  closers.push(
    () => server.close(),
    async () => mcp?.close(),
    () => tools.close(),
  );
});

afterAll(async () => {
  for (const close of closers) await close();
});

const call = (name: string, given: object) => JSON.stringify({ name, arguments: given });

async function post(body: unknown, options: RequestInit = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const headers = { "content-type": "application/json", ...options.headers };
  const response = await fetch(`${url}/get_observation`, { method: "POST", body: text, ...options, headers });
  return { status: response.status, ...JSON.parse(await response.text()) };
}

const ask = (trajectory: string, action: string, more: object = {}) =>
  post({ trajectory_ids: [trajectory], actions: [action], ...more });

const inTags = (text: string) => `\n<tool_response>\n${text}\n</tool_response>\n`;

test("each trajectory has instances of its own, made for what its extra fields say, until it finishes", async () => {
  const note = (text: string) => call("note", { text });
  const both = { trajectory_ids: ["a", "b"], actions: [note("x"), note("y")] };
  const first = await post({ ...both, extra_fields: [{ title: "A" }, {}], turn: [1, 2] });
  expect(first).toMatchObject({ dones: [false, false], valids: [true, true] });
  expect(first.observations).toEqual([inTags("A, x"), inTags("untitled, y")]);
  expect((await ask("a", `<note>z</note>`)).observations).toEqual(["\n<result>\nA, x, z\n</result>\n"]);
  const finished = await ask("a", "", { finish: [true] });
  expect(finished).toMatchObject({ observations: [""], dones: [true], valids: [true] });
  const last = await ask("a", note("new"), { is_last_step: [true], title: ["B"] });
  expect(last.observations).toEqual([inTags("B, new")]);
  expect((await ask("a", note("newer"))).observations).toEqual([inTags("untitled, newer")]);
  await post({ trajectory_ids: ["a", "b"], actions: ["", ""], finish: [true, true] });
  expect(tools.count()).toBe(0);
});

test("a call that is none is told as such, one that fails ends its trajectory, and a dead thread is recovered", async () => {
  const said = (await ask("c", "no call")).observations[0];
  expect(said).toMatchObject({ obs: "", invalid_reason: "No valid tool found for action" });
  expect(said.available_tools).toContain("• note: Writes a line.");
  const wrong = await ask("c", call("length", { unit: "km" }));
  expect(wrong).toMatchObject({ dones: [false], valids: [false] });
  expect(wrong.observations[0].obs).toContain("error: the call lacks “value”");
  expect((await ask("c", call("lenght", {}))).observations[0].obs).toContain("Did you mean “length”?");
  await ask("c", call("note", { text: "kept" }));
  const crashed = await ask("c", call("crash", { file: join(folder, "crashed") }));
  expect(crashed.observations).toEqual([inTags("untitled, kept")]);
  expect(existsSync(join(folder, "crashed"))).toBe(true);
  expect(await ask("c", call("refuse", {}))).toMatchObject({
    observations: [{ obs: "", error: expect.stringContaining("the host is away"), tool_type: "refuse" }],
    dones: [true],
    valids: [false],
  });
  expect((await ask("c", call("note", { text: "on" }))).observations).toEqual([inTags("untitled, kept, on")]);
  await ask("c", "", { finish: [true] });
});

test("arguments whose check would not end are invalid, and the server goes on", {
  timeout: 60_000,
}, async () => {
  const long = `${"a".repeat(60)}!`;
  const { observations, valids } = await ask("p", call("patterned", { text: long }));
  expect(valids).toEqual([false]);
  expect(observations[0].obs).toContain("isn't of the right form. It must match ^(a+)+$.");
  const undecided = await ask("p", call("patterned", { text: "a", word: `${"b".repeat(60)}!` }));
  expect(undecided.valids).toEqual([false]);
  expect(undecided.observations[0].obs).toContain("checking the arguments took longer than 2 s");
  expect((await ask("p", call("patterned", { text: "aaa", word: "bb" }))).observations).toEqual([
    inTags("aaa"),
  ]);
});

test("images, a reward and the end are verl-tool's", async () => {
  const { observations, dones } = await ask("d", call("screen", {}));
  expect(dones).toEqual([true]);
  expect(observations[0]).toMatchObject({
    reward: 0.5,
    image: [expect.stringMatching(/^data:image\/png;base64,iVBOR/)],
  });
  expect(observations[0].obs).toContain("[image 1: 1×1 png]");
});

test("a client that asks again because it heard nothing is answered, and nothing is done twice", async () => {
  const [count, until] = [join(folder, "count"), join(folder, "until")];
  const asked = { trajectory_ids: ["e"], actions: [call("held", { count, until })] };
  const hangUp = new AbortController();
  const lost = post(asked, { signal: hangUp.signal });
  await vi.waitFor(() => expect(existsSync(count)).toBe(true), 60_000);
  hangUp.abort();
  await expect(lost).rejects.toThrow();
  await fetch(`${url}/other`); // what answers this has noticed that the first is gone
  const again = post(asked);
  writeFileSync(until, "");
  expect((await again).observations).toEqual([inTags("1")]);
  expect((await post(asked)).observations).toEqual([inTags("2")]); // it had its answer: this is another call
  const named = { ...asked, extra_fields: [{ call_id: "7" }] };
  expect([(await post(named)).observations, (await post(named)).observations]).toEqual([
    [inTags("3")],
    [inTags("3")],
  ]);
  expect(readFileSync(count, "utf8")).toBe("called\n".repeat(3));
});

test("a request that is none is answered by what is wrong with it", async () => {
  expect(await post("{")).toMatchObject({ status: 400, detail: expect.stringContaining("not JSON") });
  expect(await post({ trajectory_ids: ["a"] })).toMatchObject({
    status: 422,
    detail: expect.stringContaining("lacks “actions”"),
  });
  for (const wrong of [
    [],
    null,
    { trajectory_ids: [], actions: [] },
    { trajectory_ids: ["a"], actions: [1] },
    { trajectory_ids: "a", actions: "b" },
    { trajectory_ids: ["a"], actions: ["a", "b"] },
    { trajectory_ids: ["a"], actions: ["b"], finish: [] },
    { trajectory_ids: ["a"], actions: ["b"], extra_fields: [1] },
  ])
    expect(await post(wrong)).toMatchObject({ status: 422 });
  expect((await fetch(`${url}/get_observation`)).status).toBe(405);
  expect((await fetch(`${url}/other`)).status).toBe(404);
  expect(await post({}, { headers: { origin: "https://example.com" } })).toMatchObject({ status: 403 });
  const crowd = Array.from({ length: 9 }, (_, index) => `crowd-${index}`);
  const note = { actions: crowd.map(() => call("note", { text: "x" })) };
  expect(await post({ trajectory_ids: crowd, ...note })).toMatchObject({ status: 429 });
  await post({ trajectory_ids: crowd, actions: crowd.map(() => ""), finish: crowd.map(() => true) });
  expect(
    await answerTo(
      "POST /get_observation HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99999999\r\n\r\n",
    ),
  ).toMatch(/ 413 /);
  expect(await answerTo("GET /health HTTP/1.1\r\nhost: rebound.example.com\r\n\r\n")).toMatch(/ 403 /);
  expect(await answerTo("\0\r\n\r\n")).toMatch(/ 400 /);
  const health = await (await fetch(`${url}/health`)).json();
  expect(health).toMatchObject({
    status: "healthy",
    active_tasks: 0,
    tools: expect.arrayContaining(["note", "finish"]),
  });
});

test.each(oddTargets)("the target %j is answered by what is wrong with it", async (target) => {
  for (const method of ["GET", "POST"])
    expect([400, 403, 404, 405, 431]).toContain((await rawRequest(url, target, { method })).status);
});

test("bodies and arguments that are nested without end are answered", async () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const body = `{"trajectory_ids":["n"],"actions":["x"],"extra_fields":[{"a":${deep}}]}`;
  expect(await post(body)).toMatchObject({
    status: 400,
    detail: "the request is nested too deeply: send at most 500 levels",
  });
  for (const action of [
    `{"name":"note","arguments":{"text":"x","more":${deep}}}`,
    `{"name":"note","arguments":${deep}}`,
  ]) {
    const { status, valids } = await ask("n", `<tool_call>${action}</tool_call>`);
    expect([status, valids]).toEqual([200, [false]]);
  }
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const called = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note","arguments":{"text":${deep}}}}`;
  expect((await fetch(`${url}/mcp`, { method: "POST", headers, body: called })).status).toBe(400);
  expect((await ask("n", call("note", { text: "on" }))).valids).toEqual([true]);
  await tools.release("n");
});

test("a request that is not said to be JSON is refused, unless it has a key", async () => {
  const body = JSON.stringify({ trajectory_ids: ["k"], actions: ["none"] });
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
    expect(await post(body, { headers: { "content-type": type } })).toMatchObject({ status: 415 });
  for (const headers of [
    { "content-type": "application/json; charset=utf-8" },
    { "content-type": "text/plain", authorization: "Bearer key" },
  ])
    expect(await post(body, { headers })).toMatchObject({ status: 200 });
});

/** What stands first in the answer to bytes. */
async function answerTo(bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.write(bytes);
  for await (const part of socket) {
    socket.destroy();
    return String(part);
  }
  return "";
}

async function client(mode: "legacy" | { pin: string }, headers: Record<string, string> = {}) {
  const made = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } });
  await made.connect(transport);
  const note = async (text: string) => (await made.callTool({ name: "note", arguments: { text } })).content;
  return { made, transport, note };
}

const textContent = (said: string) => [{ type: "text", text: said }];

test("MCP: a session is a trajectory, and what it holds goes with it", async () => {
  const [first, second] = [await client("legacy"), await client("legacy")];
  const { tools: listed } = await first.made.listTools();
  expect(listed.map(({ name }) => name)).toEqual([
    "note",
    "crash",
    "refuse",
    "held",
    "screen",
    "length",
    "restored",
    "patterned",
  ]);
  expect(await first.note("a")).toEqual(textContent("untitled, a"));
  expect(await second.note("b")).toEqual(textContent("untitled, b"));
  expect(await first.note("c")).toEqual(textContent("untitled, a, c"));
  const wrong = await first.made.callTool({ name: "length", arguments: { value: "long" } });
  expect(wrong).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("value") }] });
  const seen = await first.made.callTool({ name: "screen", arguments: {} });
  expect(seen.content).toMatchObject([{ type: "text" }, { type: "image", mimeType: "image/png" }]);
  await first.transport.terminateSession();
  await vi.waitFor(() => expect(tools.count()).toBe(1), 60_000);
  const third = await client("legacy");
  const fourth = await client("legacy"); // one more than there may be: the second is the one that was not used for longest
  expect(await fourth.note("d")).toEqual(textContent("untitled, d"));
  await expect(second.note("e")).rejects.toThrow();
  for (const { transport } of [third, fourth]) await transport.terminateSession();
  await vi.waitFor(() => expect(tools.count()).toBe(0), 60_000);
});

test("MCP without sessions: a call has instances of its own, or those of the trajectory that a header names", async () => {
  const mode = { pin: "2026-07-28" };
  const [alone, named] = [await client(mode), await client(mode, { "everturn-trajectory": "t" })];
  expect(await alone.note("a")).toEqual(textContent("untitled, a"));
  expect(await alone.note("b")).toEqual(textContent("untitled, b"));
  expect(await named.note("c")).toEqual(textContent("untitled, c"));
  expect(await named.note("d")).toEqual(textContent("untitled, c, d"));
  expect(tools.count()).toBe(1);
  await tools.release("mcp/named/t");
});

test("the end waits for what is being freed", async () => {
  const log: string[] = [];
  const options = { folder: join(folder, "leisurely"), limit: 8, idle: 3_600_000 };
  const plan = await servedPlan([one("served.ts#leisurely")]);
  const own = await serveTools(plan, { ...options, log: (text) => log.push(text) });
  const request = { trajectory: "a", function: "leisurely", arguments: {}, task: {}, key: "k" };
  expect(await own.call(request)).toMatchObject({ text: "held" });
  const released = own.release("a");
  await vi.waitFor(() => expect(own.count()).toBe(0), 60_000); // it is asked to free it
  await own.close();
  await released;
  expect(log).toEqual([]);
});
