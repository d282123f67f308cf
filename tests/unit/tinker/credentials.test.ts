// Tinker's own service is a small server here, written from the published SDK 0.38.0 (_jwt_auth.py, _auth_token_provider.py).
import { expect, test } from "vitest";
import { hostedUrl, TinkerClient, type TinkerClientOptions } from "../../../packages/tinker/index.ts";
import { jsonServer } from "../../support/json-server.ts";

/** A token that expires in so many seconds. */
function token(name: string, seconds: number): string {
  const claims = { name, iat: Date.now() / 1000, exp: Date.now() / 1000 + seconds };
  return `eyJ.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.signature`;
}

/** A client of Tinker's own service, which exchanges keys for `tokens`, one after another. */
async function hostedClient(
  { config = { pjwt_auth_enabled: true }, tokens = [] }: { config?: object; tokens?: (string | number)[] },
  options: TinkerClientOptions = {},
) {
  const rejected = new Set<string>();
  const { url, asked } = await jsonServer(({ path, headers }) => {
    if (path.endsWith("client/config")) return { value: config };
    if (path.endsWith("auth/token")) {
      const next = tokens.shift();
      return typeof next === "string" ? { value: { jwt: next } } : { status: next ?? 500, value: {} };
    }
    if (!rejected.has(`${headers["x-api-key"]}`)) return { value: { supported_models: [] } };
    const challenge = { "www-authenticate": 'Bearer error="invalid_token"' };
    return { status: 401, headers: challenge, value: { detail: "token expired" } };
  });
  const client = new TinkerClient({
    baseUrl: hostedUrl,
    apiKey: "tml-key",
    retry: { attempts: 2, minDelayMs: 1, maxDelayMs: 1 },
    fetch: (input, init) => fetch(String(input).replace(hostedUrl, url), init),
    ...options,
  });
  const sent = () => asked.map(({ path, headers }) => [path.replace("/api/v1/", ""), headers["x-api-key"]]);
  return { client, rejected, sent };
}

test("the hosted service's key is exchanged once for a token, which all requests carry", async () => {
  const long = token("long", 3600);
  const { client, sent } = await hostedClient({ tokens: [long] });
  await Promise.all([client.capabilities(), client.capabilities()]);
  await client.capabilities();
  expect(sent()).toEqual([
    ["client/config", "tml-key"],
    ["auth/token", "tml-key"],
    ...Array(3).fill(["get_server_capabilities", long]),
  ]);
});

test("a token is replaced before it expires, and kept if that fails", async () => {
  const [short, second] = [token("short", 30), token("second", 3600)];
  const { client, sent } = await hostedClient({ tokens: [short, 500, 500, second] });
  for (let count = 0; count < 3; count += 1) await client.capabilities();
  const used = sent().filter(([path]) => path === "get_server_capabilities");
  expect(used.map(([, key]) => key)).toEqual([short, short, second]);
});

test("a token that the service rejects is replaced once, and the request repeated", async () => {
  const [first, second, third] = ["first", "second", "third"].map((name) => token(name, 3600));
  const { client, rejected, sent } = await hostedClient({ tokens: [first!, second!, third!] });
  await client.capabilities();
  rejected.add(first!);
  await client.capabilities();
  expect(sent().slice(-3)).toEqual([
    ["get_server_capabilities", first],
    ["auth/token", "tml-key"],
    ["get_server_capabilities", second],
  ]);
  rejected.add(second!).add(third!);
  await expect(client.capabilities()).rejects.toMatchObject({ code: "unauthorized", attempts: 1 });
});

test("a service without tokens gets the key", async () => {
  const { client, sent } = await hostedClient({ config: {} });
  await client.capabilities();
  expect(sent().at(-1)).toEqual(["get_server_capabilities", "tml-key"]);
});

test("an organization that wants fresh credentials refuses a fixed key, and takes a function", async () => {
  const config = { pjwt_auth_enabled: true, credential_default_source: "credential_cmd" };
  const fixed = await hostedClient({ config });
  await expect(fixed.client.capabilities()).rejects.toThrow("Set apiKey to a function");
  const only = token("only", 3600);
  const { client, sent } = await hostedClient({ config, tokens: [only] }, { apiKey: async () => "fresh" });
  await client.capabilities();
  expect(sent().map(([, key]) => key)).toEqual(["fresh", "fresh", only]);
});

test("other servers get the key in each request, from a function too", async () => {
  let count = 0;
  const { url, asked } = await jsonServer(() => ({ value: { supported_models: [] } }));
  const client = new TinkerClient({ baseUrl: url, apiKey: () => `key-${++count}` });
  await client.capabilities();
  await client.capabilities();
  expect(asked.map(({ headers }) => headers["x-api-key"])).toEqual(["key-1", "key-2"]);
});
