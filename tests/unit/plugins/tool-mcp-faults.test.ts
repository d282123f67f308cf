import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import mcp from "../../../plugins/tool-mcp/index.ts";
import type { JsonObject } from "../../../src/contracts/json.ts";
import { type AskedByHttp, httpServer } from "../../support/mcp-servers.ts";

const { signal } = new AbortController();
const task = { data_source: "", prompt: [], reward_model: { ground_truth: "" } };

type Answers = Parameters<typeof httpServer>[0];

/** A call of the tool `it` of a server that answers so. */
const called = async (answers: Answers) => calledAt(await configOf(answers));

async function calledAt(config: JsonObject) {
  const instance = await mcp.create?.({
    instance: "i",
    task,
    config,
    environment: {},
    signal,
    hold() {},
  });
  if (instance === undefined) throw new Error("there is no create()");
  onTestFinished(() => instance.close());
  const execution = {
    instance: "i",
    function: "it",
    key: "k",
    attempt: 1,
    config: {},
    signal,
    isReplay: false,
  };
  return mcp.execute({}, execution, instance);
}

async function configOf(answers: Answers): Promise<JsonObject> {
  const { url, server } = await httpServer(answers);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url };
}

const functionsOf = async (answers: Answers) =>
  Object.keys((await mcp.functions?.(await configOf(answers))) ?? {});

const outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
const listed =
  (more: object): Answers[string] =>
  ({ say }) =>
    say({ tools: [{ name: "it", inputSchema: { type: "object" }, ...more }] });
const content = [{ type: "text", text: "no such city" }];

describe("a tool with an output schema", () => {
  const answering = (result: object, schema: object = outputSchema) =>
    called({ "tools/list": listed({ outputSchema: schema }), "tools/call": ({ say }) => say(result) });

  test("that fails says so in its own words, whatever its structured content is", async () => {
    for (const structuredContent of [{ n: "x" }, {}, undefined])
      expect(await answering({ isError: true, content, structuredContent })).toEqual({
        content,
        error: true,
      });
    expect(await answering({ isError: true, structuredContent: { reason: "rain" } })).toEqual({
      content: [{ type: "json", value: { reason: "rain" } }],
      error: true,
    });
  });

  test("that succeeds with what breaks it is its server's fault, which is named", async () => {
    for (const structuredContent of [{ n: "x" }, {}, undefined])
      await expect(answering({ content, structuredContent })).rejects.toThrow(
        /the server plain broke the output schema of its tool it: /,
      );
    expect(await answering({ content, structuredContent: { n: 1 } })).toEqual({ content });
  });

  test("that no one can read is not held to it", async () => {
    const schema = { type: "object", properties: { n: { type: "no such type" } } };
    expect(await answering({ content, structuredContent: { n: 1 } }, schema)).toEqual({ content });
  });
});

describe("pages of tools", () => {
  const pages = (cursorAfter: (cursor: string | undefined) => unknown): Answers => ({
    "tools/list": ({ params: { cursor }, say }) =>
      say({
        tools: [{ name: `t${cursor ?? ""}`, inputSchema: { type: "object" } }],
        nextCursor: cursorAfter(cursor),
      }),
  });

  test("end where the cursor is empty, is none, or was there before", async () => {
    expect(await functionsOf(pages((cursor) => (cursor === undefined ? "1" : "")))).toEqual(["t", "t1"]);
    expect(await functionsOf(pages((cursor) => (cursor === undefined ? "1" : null)))).toEqual(["t", "t1"]);
    expect(await functionsOf(pages((cursor) => (cursor === undefined ? "1" : "1")))).toEqual(["t", "t1"]);
    expect(await functionsOf(pages((cursor) => (cursor === "1" ? "2" : "1")))).toEqual(["t", "t1", "t2"]);
    expect(await functionsOf(pages(() => ""))).toEqual(["t"]);
  });

  test("that never end are refused", async () => {
    let page = 0;
    await expect(functionsOf(pages(() => String(++page)))).rejects.toThrow(
      "lists its tools in more than 200 pages",
    );
  });
});

describe("a stream of events that breaks fails at once", () => {
  /** When a server first began the answer under test. */
  let began = Number.POSITIVE_INFINITY;
  const begin = () => {
    began = Math.min(began, performance.now());
  };

  /** What `calling` comes to, within 5 s of the answer under test. */
  async function atOnce<T>(calling: Promise<T>): Promise<T> {
    began = Number.POSITIVE_INFINITY;
    try {
      return await calling;
    } finally {
      expect(performance.now() - began).toBeLessThan(5000);
    }
  }

  const streamed = (answer: (response: ServerResponse, asked: AskedByHttp) => void, more: Answers = {}) => {
    const calling = called({
      "tools/call": (asked) => {
        begin();
        asked.response.writeHead(200, { "content-type": "text/event-stream" });
        asked.response.flushHeaders();
        answer(asked.response, asked);
      },
      ...more,
    });
    return atOnce(calling);
  };
  const result = ({ id }: AskedByHttp, sent: object = { content }) =>
    `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: sent })}\n\n`;
  const noAnswer = /the stream of events (ended|broke) without an answer/;

  test("ends with the connection, or without it", async () => {
    await expect(streamed((response) => response.end())).rejects.toThrow(noAnswer);
    await expect(streamed((response) => response.end(": hello\n\n"))).rejects.toThrow(noAnswer);
    await expect(streamed((response) => response.end("<html>Bad gateway</html>"))).rejects.toThrow(noAnswer);
    await expect(
      streamed((response) => response.write("data: {", () => setTimeout(() => response.destroy(), 50))),
    ).rejects.toThrow(noAnswer);
    const whole = streamed((response, asked) => response.end(result(asked).trimEnd()));
    expect(await whole, "but for the line after its answer").toEqual({ content });
  });

  test("holds what is no message, and stays open", async () => {
    for (const broken of [
      "data: {oops\n\n",
      "data: <html>\n\n",
      "data: [1]\n\n",
      'data: {"jsonrpc":"2.0","id":\n\n',
    ])
      await expect(streamed((response) => response.write(broken))).rejects.toThrow(
        "an event of the stream is not a message of the protocol",
      );
  });

  test("can be resumed, and is not", async () => {
    const gets: string[] = [];
    const more: Answers = {
      GET: ({ request, response }) => {
        gets.push(String(request.headers["last-event-id"]));
        response.writeHead(405).end();
      },
    };
    const begun = "id: e1\nretry: 10\ndata: \n\n";
    await expect(streamed((response) => response.end(begun), more)).rejects.toThrow(/resume/);
    expect(gets).toContain("e1");
  });

  test("is resumed, and answers", async () => {
    let sent = "";
    const more: Answers = {
      GET: ({ request, response }) => {
        if (request.headers["last-event-id"] === undefined) response.writeHead(405).end();
        else response.writeHead(200, { "content-type": "text/event-stream" }).end(sent);
      },
    };
    const answer = await streamed((response, asked) => {
      sent = result(asked);
      response.end("id: e1\nretry: 10\ndata: \n\n");
    }, more);
    expect(answer).toEqual({ content });
  });

  test("goes on through comments, notifications, other events and lines of every ending", async () => {
    const answer = await streamed((response, asked) => {
      const note = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } };
      response.write(`: ping\r\n\r\nevent: else\ndata: {oops\n\ndata: ${JSON.stringify(note)}\n\n`);
      const [first = "", second = ""] = result(asked)
        .split(",", 2)
        .map((part, at) => (at === 0 ? `${part},` : part));
      response.write(first.slice(0, 9));
      response.write(`${first.slice(9)}`);
      response.end(
        `${result(asked).slice(first.length, first.length + second.length)}${result(asked).slice(first.length + second.length)}`,
      );
    });
    expect(answer).toEqual({ content });
  });

  test("is no stream, and has no answer either", async () => {
    const plain = (status: number, type: string, body: string) => {
      const calling = called({
        "tools/call": ({ response }) => {
          begin();
          response.writeHead(status, { "content-type": type }).end(body);
        },
      });
      return atOnce(calling);
    };
    await expect(plain(202, "text/plain", "")).rejects.toThrow(/answered 202, and so no call/);
    await expect(plain(200, "application/json", "{")).rejects.toThrow(/JSON/);
    await expect(plain(200, "application/json", '{"jsonrpc":"2.0","id":999,"result":{}}')).rejects.toThrow(
      "the answer is to another request",
    );
    await expect(plain(200, "text/html", "<html>")).rejects.toThrow(/content type/i);
    await expect(plain(502, "text/html", "<html>")).rejects.toThrow(/html/);
  });

  test.for(["data: {oops\n\n", "data: [1]\n\n", undefined])("of the older transport: %j", async (sent) => {
    const server = createServer(async (request, response) => {
      if (request.method === "GET") {
        stream = response.writeHead(200, { "content-type": "text/event-stream" });
        stream.write("event: endpoint\ndata: /messages\n\n");
        return;
      }
      const { id, method } = JSON.parse((await text(request)) || "{}");
      const isOlder = request.url === "/messages";
      response.writeHead(isOlder ? 202 : 404).end();
      const say = (answer: object) =>
        stream?.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: answer })}\n\n`);
      if (!isOlder) return;
      if (method === "tools/call") begin();
      if (method === "initialize") say(initialized);
      else if (method === "tools/list") say({ tools: [{ name: "it", inputSchema: { type: "object" } }] });
      else if (method === "tools/call" && sent !== undefined) stream?.write(sent);
      else if (method === "tools/call") stream?.destroy();
    });
    let stream: ServerResponse | undefined;
    const initialized = {
      protocolVersion: "2024-11-05",
      capabilities: {},
      serverInfo: { name: "s", version: "1" },
    };
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = Object(server.address());
    await expect(atOnce(calledAt({ url: `http://127.0.0.1:${port}/sse` }))).rejects.toThrow(
      "the stream of events broke",
    );
  });

  test("at the start of the server", async () => {
    const broken: Answers[string] = ({ response }) => {
      begin();
      response.writeHead(200, { "content-type": "text/event-stream" }).end();
    };
    await expect(atOnce(called({ initialize: broken }))).rejects.toThrow(noAnswer);
    await expect(atOnce(called({ "tools/list": broken }))).rejects.toThrow(noAnswer);
  });
});
