import { once } from "node:events";
import { createServer } from "node:http";
import type { JsonObject } from "everturn/plugin";
import { pluginChecks } from "everturn/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import http from "../../../plugins/tool-http/index.ts";

let url: string;
const numbers = '{"id":9007199254740993,"list":[1e999,0.5,12345678901234567890.5]}';
const asked: { method: string; url: string; headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const { method = "", url: path = "", headers } = request;
  asked.push({ method, url: path, headers, body });
  const [, what = "", status = "200"] = /^\/(\w+)(?:\/(\d+))?/.exec(path) ?? [];
  if (what === "moved") return void response.writeHead(302, { location: path.split("to=")[1] }).end();
  if (what === "loop") return void response.writeHead(302, { location: "/loop" }).end();
  if (what === "status") return void response.writeHead(Number(status)).end("as said");
  if (what === "reset") return void request.socket.destroy();
  if (what === "long") return void response.end("x".repeat(5000));
  if (what === "text") return void response.end("plain");
  if (what === "numbers") return void response.end(numbers);
  response.end(
    JSON.stringify({
      said: path,
      list: [{ text: "first" }],
      wrong: what === "wrong" ? "no such city" : false,
    }),
  );
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const parameters = { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } };

async function call(declared: JsonObject, given: JsonObject, more: JsonObject = {}) {
  const config = {
    functions: { f: { description: "It.", parameters, ...declared } },
    headers: {},
    bytes: 4096,
    ...more,
  };
  const { signal } = new AbortController();
  await http.functions?.(config);
  return http.execute(
    given,
    { instance: "i", function: "f", key: "k", attempt: 1, config, signal, isReplay: false },
    undefined,
  );
}

test("the model reads numbers with the digits that the server wrote", async () => {
  expect(await call({ url: `${url}/numbers` }, {})).toEqual({ text: numbers });
  for (const [observation, text] of Object.entries({
    id: "9007199254740993",
    "list.0": "1e999",
    "list.1": "0.5",
  }))
    expect(await call({ url: `${url}/numbers`, observation }, {})).toEqual({ text });
  expect(await call({ url: `${url}/numbers`, error: "id" }, {})).toEqual({
    text: "error: 9007199254740993",
    error: true,
  });
});

test("arguments go where the declaration says, and what it names of the answer is the observation", async () => {
  const given = { city: "Åmål/..?x", days: 2 };
  expect(await call({ url: `${url}/c/{city}`, method: "GET", observation: "said" }, given)).toEqual({
    text: "/c/%C3%85m%C3%A5l%2F..%3Fx?days=2",
  });
  const body = { place: { name: "$city" }, list: ["$days", "$city"], fixed: true };
  const query = { unit: "m", d: "$days" };
  const text = await call({ url: `${url}/x?a=1`, body, query, observation: "list.0.text" }, { city: "Oslo" });
  expect(text).toEqual({ text: "first" });
  expect(asked.at(-1)).toMatchObject({
    method: "POST",
    url: "/x?a=1&unit=m",
    headers: { "idempotency-key": "k" },
  });
  expect(JSON.parse(asked.at(-1)?.body ?? "")).toEqual({
    place: { name: "Oslo" },
    list: [null, "Oslo"],
    fixed: true,
  });
  await call({ url }, given); // the tool-PPO client's: the arguments as they are
  expect(JSON.parse(asked.at(-1)?.body ?? "")).toEqual(given);
  expect(await call({ url: `${url}/text`, method: "DELETE" }, {})).toEqual({ text: "plain" });
});

test("headers have the environment's values, which must be there", async () => {
  vi.stubEnv("EVERTURN_TEST_TOKEN", "s3cret");
  const headers = { authorization: ["Bearer $", "{EVERTURN_TEST_TOKEN}"].join("") };
  await call({ url }, {}, { headers });
  expect(asked.at(-1)?.headers.authorization).toBe("Bearer s3cret");
  vi.unstubAllEnvs();
  await expect(call({ url }, {}, { headers })).rejects.toThrow("no environment variable EVERTURN_TEST_TOKEN");
});

test("what the endpoint refuses is told to the model; what fails is tried again", async () => {
  const told = async (path: string, more: JsonObject = {}) => call({ url: `${url}${path}`, ...more }, {});
  expect(await told("/status/404")).toEqual({ text: "error: 404 as said", error: true });
  expect(await told("/wrong", { error: "wrong" })).toEqual({ text: "error: no such city", error: true });
  expect(await told("/fine", { error: "wrong", observation: "said" })).toEqual({ text: "/fine" });
  expect(await told("/fine", { observation: "a.b" })).toEqual({
    text: "error: the answer has no a.b",
    error: true,
  });
  expect(await told("/long")).toEqual({ text: "error: the answer is longer than 4096 bytes", error: true });
  for (const status of [408, 429, 500, 503])
    await expect(told(`/status/${status}`)).rejects.toThrow(`${status}: as said`);
  await expect(told("/reset")).rejects.toThrow("fetch failed");
  await expect(told("/text", { observation: "a" })).rejects.toThrow("not JSON");
});

test("nobody is asked but whom the pipeline names", async () => {
  const { length } = asked;
  for (const host of ["{city}", "{city}.example.com", "u:{city}@example.com", "example.com:{days}"])
    await expect(call({ url: `http://${host}/` }, { city: "evil" })).rejects.toThrow("in its host");
  await expect(call({ url: `${url}/{town}` }, {})).rejects.toThrow(
    "the argument town, which its parameters lack",
  );
  await expect(call({ url, body: { a: "$town" } }, {})).rejects.toThrow("the argument town");
  for (const city of [".", ".."])
    expect(await call({ url: `${url}/a/{city}/b` }, { city })).toMatchObject({
      invalid: expect.stringContaining("path"),
    });
  expect(asked).toHaveLength(length);
  const moved = (to: string) => call({ url: `${url}/moved?to=${to}`, observation: "said" }, {});
  expect(await moved("/there")).toEqual({ text: "/there" });
  expect(asked.at(-1)).toMatchObject({ method: "GET", body: "" });
  await expect(moved("http://localhost:1/")).rejects.toThrow(
    "redirects to http://localhost:1, which is not asked",
  );
  await expect(call({ url: `${url}/loop` }, {})).rejects.toThrow("more than 5 times");
});

test("it keeps its promises", async () => {
  const declared = { description: "It.", url: `${url}/echo`, parameters, observation: "list.0.text" };
  const checks = await pluginChecks("tool-http", {
    config: { functions: { look: declared } },
    cases: [{ arguments: { city: "Oslo" }, text: "first" }],
  });
  for (const check of checks) await check.run();
});
