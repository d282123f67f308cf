import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { answerOf } from "../../../plugins/tool-mcp/answer.ts";
import mcp from "../../../plugins/tool-mcp/index.ts";
import { namedTools } from "../../../plugins/tool-mcp/server.ts";
import type { JsonObject } from "../../../src/contracts/json.ts";
import { byStdio, everythingByHttp, filesystem } from "../../support/mcp-servers.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
const { signal } = new AbortController();
const task = { data_source: "", prompt: [], reward_model: { ground_truth: "" } };
const creationOf = (config: JsonObject) => ({
  instance: "i",
  task,
  config,
  environment: {},
  signal,
  hold() {},
});

type Opened = Awaited<ReturnType<NonNullable<typeof mcp.create>>>;

const call = (instance: Opened, name: string, given: JsonObject, aborted = signal) =>
  mcp.execute(
    given,
    {
      instance: "i",
      function: name,
      key: "k",
      attempt: 1,
      config: {},
      signal: aborted,
      isReplay: false,
    },
    instance,
  );

async function opened(config: JsonObject): Promise<Opened> {
  const instance = await mcp.create?.(creationOf(config));
  if (instance === undefined) throw new Error("there is no create()");
  onTestFinished(() => instance.close());
  return instance;
}

/** A server in a few lines, which answers a call of its tool `it` with what `answer` writes. */
function serverThat(name: string, answer: string): JsonObject {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(
    file,
    `import { createInterface } from "node:readline";
const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
const tools = [{ name: "it", inputSchema: { type: "object" } }];
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const fail = (code, message) => console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
  if (method === "initialize")
    say(id, { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } });
  if (method === "tools/list") say(id, { tools });
  if (method === "tools/call") { ${answer} }
});
`,
  );
  return { command: process.execPath, args: [file] };
}

describe("the reference server", () => {
  let http: Awaited<ReturnType<typeof everythingByHttp>>;
  let sse: Awaited<ReturnType<typeof everythingByHttp>>;
  beforeAll(async () => {
    [http, sse] = await Promise.all([everythingByHttp("streamableHttp"), everythingByHttp("sse")]);
  });
  afterAll(() => {
    for (const { child } of [http, sse]) child.kill("SIGKILL");
  });

  test("tells its tools as functions, but for those that answer later", async () => {
    const functions = (await mcp.functions?.(byStdio)) ?? {};
    expect(Object.keys(functions)).toEqual(expect.arrayContaining(["echo", "get-sum", "get-tiny-image"]));
    expect(functions).not.toHaveProperty("simulate-research-query");
    expect(functions["get-sum"]).toEqual({
      description: "Returns the sum of two numbers",
      parameters: {
        type: "object",
        required: ["a", "b"],
        properties: {
          a: { type: "number", description: "First number" },
          b: { type: "number", description: "Second number" },
        },
      },
    });
  });

  test.for(["stdio", "streamable HTTP", "SSE"])("answers by %s", async (kind) => {
    const config =
      { stdio: byStdio, "streamable HTTP": { url: http.url }, SSE: { url: sse.url } }[kind] ?? {};
    const server = await opened(config);
    expect(await call(server, "echo", { message: "東京" })).toEqual({
      content: [{ type: "text", text: "Echo: 東京" }],
    });
    expect(await call(server, "get-tiny-image", {})).toMatchObject({
      content: [{ type: "text" }, { type: "image", mimeType: "image/png" }, { type: "text" }],
    });
    expect(await call(server, "get-structured-content", { location: "Chicago" })).toMatchObject({
      content: [{ type: "text", text: expect.stringContaining('"conditions"') }],
    });
    expect(await call(server, "get-sum", { a: "x" })).toMatchObject({
      error: true,
      content: [{ text: expect.stringContaining("Invalid arguments for tool get-sum") }],
    });
    expect(await call(server, "get-resource-links", { count: 1 })).toMatchObject({
      content: [{ type: "text" }, { text: expect.stringMatching(/^\[resource demo:\/\/.*\]$/) }],
    });
    await expect(call(server, "no-such-tool", {})).rejects.toThrow(
      "the server has no tool no-such-tool any more",
    );
    const stop = new AbortController();
    const long = call(server, "trigger-long-running-operation", { duration: 600, steps: 2 }, stop.signal);
    setImmediate(() => stop.abort(new Error("nobody waits")));
    await expect(long).rejects.toThrow("nobody waits");
    expect(await call(server, "echo", { message: "after" })).toMatchObject({
      content: [{ text: "Echo: after" }],
    });
  });

  test("gets of the environment what is named, and no more", async () => {
    process.env.MCP_TEST_SECRET = "s3cret";
    process.env.MCP_TEST_OTHER = "hidden";
    const told = async (config: JsonObject) =>
      JSON.stringify(await call(await opened({ ...byStdio, ...config }), "get-env", {}));
    expect(await told({})).not.toMatch(/s3cret|hidden/);
    const named = await told({ secrets: ["MCP_TEST_SECRET"], environment: { MCP_TEST_LEVEL: "3" } });
    expect(named).toMatch(/s3cret/);
    expect(named).toMatch(/MCP_TEST_LEVEL/);
    expect(named).not.toMatch(/hidden/);
    await expect(opened({ ...byStdio, secrets: ["MCP_TEST_NONE"] })).rejects.toThrow(
      "the environment variable MCP_TEST_NONE is not set",
    );
  });
});

test("files of a server that keeps them are there again after a replay", async () => {
  const config = { command: process.execPath, args: [filesystem, folder], recovery: "replay" };
  const server = await opened(config);
  await call(server, "write_file", { path: join(folder, "a.txt"), content: "one" });
  const snapshot = await mcp.snapshot?.(server);
  writeFileSync(join(folder, "a.txt"), "changed");
  const again = await mcp.restore?.(snapshot ?? new Uint8Array(), creationOf(config));
  if (again === undefined) throw new Error("there is no restore()");
  onTestFinished(() => again.close());
  expect(await call(again, "read_text_file", { path: join(folder, "a.txt") })).toMatchObject({
    content: [{ text: "one" }],
  });
  expect(await call(again, "read_text_file", { path: "/etc/passwd" })).toMatchObject({ error: true });
  expect(await mcp.snapshot?.(await opened({ ...config, recovery: "fail" }))).toBeUndefined();
});

describe("a server that misbehaves", () => {
  test("ends in a call: what it wrote is said, and a shared one is started again", async () => {
    const config = serverThat(
      "ends",
      `if (params.arguments.end) { console.error("out of disk"); process.exit(3); } else say(id, { content: [] });`,
    );
    const own = await opened(config);
    await expect(call(own, "it", { end: true })).rejects.toThrow("the server ended: out of disk");
    const sharing = { ...config, shared: true };
    const [one, other] = [await opened(sharing), await opened(sharing)];
    await expect(call(one, "it", { end: true })).rejects.toThrow("the server ended");
    expect(await call(other, "it", {})).toEqual({
      content: [{ type: "text", text: "The tool answered nothing." }],
    });
    (await one.server()).close();
  });

  test("writes what is no message beside its answers, or an answer of a wrong form", async () => {
    const chatty = await opened(
      serverThat(
        "chatty",
        `console.log("debug: {"); console.log('{"a": 1}'); say(id, { content: [{ type: "text", text: "x" }] });`,
      ),
    );
    expect(await call(chatty, "it", {})).toEqual({ content: [{ type: "text", text: "x" }] });
    const wrong = await opened(serverThat("wrong", `say(id, { content: [{ type: "hologram" }] });`));
    await expect(call(wrong, "it", {})).rejects.toThrow(/hologram|invalid/i);
  });

  test("refuses arguments, which the model is told, or fails itself, which is tried again", async () => {
    const refusing = await opened(
      serverThat("refusing", `fail(params.arguments.ours ? -32603 : -32602, "path is missing");`),
    );
    expect(await call(refusing, "it", {})).toEqual({
      text: "error: MCP error -32602: path is missing",
      error: true,
    });
    await expect(call(refusing, "it", { ours: true })).rejects.toThrow("MCP error -32603: path is missing");
  });

  test("is not there", async () => {
    await expect(opened({ command: join(folder, "nothing") })).rejects.toThrow(/nothing: .*ENOENT/);
    await expect(opened({ url: "http://127.0.0.1:9/mcp" })).rejects.toThrow(
      "http://127.0.0.1:9/mcp: fetch failed",
    );
    await expect(opened({})).rejects.toThrow("tool-mcp needs either “command”");
  });
});

test("answers of every kind are told, and what is no image is none", () => {
  const image = (data: string, mimeType = "image/png") => ({ type: "image" as const, data, mimeType });
  expect(
    answerOf({
      content: [
        image("AAAA"),
        image("not base64!"),
        image("AAAA", "text/html"),
        { type: "audio", data: "AAAA", mimeType: "audio/wav" },
        { type: "resource", resource: { uri: "x:/a", text: "inside" } },
        { type: "resource", resource: { uri: "x:/b", blob: "AAAA" } },
      ],
      isError: true,
    }),
  ).toEqual({
    error: true,
    content: [
      image("AAAA"),
      ...["[image: image/png, 6 bytes]", "[image: text/html, 3 bytes]", "[audio: audio/wav, 3 bytes]"].map(
        said,
      ),
      ...["inside", "[resource x:/b: unknown, 3 bytes]"].map(said),
    ],
  });
  expect(answerOf({ content: [], structuredContent: { n: 1 } })).toEqual({
    content: [{ type: "json", value: { n: 1 } }],
  });
  expect(answerOf({ toolResult: [1] })).toEqual({ content: [{ type: "json", value: [1] }] });
});

test("the model is told where structured content has lost digits", () => {
  const rounded = said(
    "[Integers beyond 9007199254740991 are rounded here, and numbers beyond 1.8e308 are null.]",
  );
  const read = (json: string) => answerOf({ content: [], structuredContent: JSON.parse(json) }).content;
  expect(read('{"rows":[{"id":9007199254740993}]}')).toEqual([
    { type: "json", value: { rows: [{ id: 9007199254740992 }] } },
    rounded,
  ]);
  expect(read('{"x":-1e999}')).toEqual([{ type: "json", value: { x: null } }, rounded]);
  expect(read('{"x":[9007199254740991,0.1,null,"9007199254740993"]}')).toHaveLength(1);
});

function said(text: string) {
  return { type: "text", text };
}

test("names that a policy can't write are made such", () => {
  const tool = (name: string) => ({ name, inputSchema: { type: "object" as const } });
  const names = ["files.read", "files/read", "2nd", "a".repeat(70), "plain"];
  expect([...namedTools(names.map(tool)).keys()]).toEqual([
    "files_read",
    "files_read_2",
    "_2nd",
    "a".repeat(64),
    "plain",
  ]);
});
