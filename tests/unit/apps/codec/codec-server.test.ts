import { randomBytes } from "node:crypto";
import { defaultPayloadConverter } from "@temporalio/common";
import { type JSONPayload, payloadToJSON } from "@temporalio/common/lib/proto-utils.js";
import { expect, onTestFinished, test } from "vitest";
import { openCodecServer } from "../../../../src/apps/codec/codec-server.ts";
import { codecKeys } from "../../../../src/control/encryption/codec-keys.ts";
import { encryptionCodec } from "../../../../src/control/encryption/encryption-codec.ts";
import { oddTargets, rawRequest } from "../../../support/raw-request.ts";

const codec = codecOf("a");
const plain = payloadToJSON(defaultPayloadConverter.toPayload({ secret: "42" }));
const token = "a token/of mine";

function codecOf(id: string) {
  const keys = codecKeys({ EVERTURN_CODEC_KEYS: `${id}:${randomBytes(32).toString("base64")}` });
  const [key] = keys;
  if (key === undefined) throw new Error("no key");
  return encryptionCodec({ key, keys, who: "The codec server on h" });
}

async function opened(secret?: string): Promise<string> {
  const origins = ["https://temporal.example.com"];
  const server = await openCodecServer(codec, {
    host: "127.0.0.1",
    port: 0,
    token: secret,
    origins,
    log: (text) => expect.unreachable(text),
  });
  onTestFinished(server.close);
  return server.url;
}

async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-namespace": "default", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const answered: { payloads: JSONPayload[]; detail: string } = JSON.parse(await answer.text());
  return { status: answer.status, headers: answer.headers, body: answered };
}

test("payloads are encoded and decoded below any path", async () => {
  const url = await opened();
  const { body: sealed } = await post(`${url}/encode`, { payloads: [plain, plain] });
  expect(sealed.payloads[0]?.metadata?.encoding).toBe(Buffer.from("binary/encrypted").toString("base64"));
  const { status, body } = await post(`${url}/any/namespace/decode`, sealed);
  expect([status, body]).toEqual([200, { payloads: [plain, plain] }]);
  expect((await post(`${url}/decode`, { payloads: [] })).body).toEqual({ payloads: [] });
});

test("requests that can't be answered are told why", async () => {
  const url = await opened();
  const problem = async (path: string, body: unknown) => {
    const { status, body: told } = await post(`${url}${path}`, body);
    return `${status} ${told.detail}`;
  };
  expect(await problem("/decode", "{")).toMatch(/^400 the request is not JSON/);
  for (const body of [
    {},
    [],
    { payloads: [1] },
    { payloads: [{ data: 1 }] },
    { payloads: [{ metadata: { a: 1 } }] },
  ])
    expect(await problem("/decode", body)).toMatch(/^400 the request has no `payloads`/);
  expect(await problem("/download", { payloads: [] })).toBe(
    "404 there is no such path, but /encode and /decode",
  );
  expect(await problem("/", { payloads: [] })).toMatch(/^404/);
  expect((await fetch(`${url}/decode`)).status).toBe(405);
  const [other] = await codecOf("b").encode([defaultPayloadConverter.toPayload(1)]);
  expect(await problem("/decode", { payloads: [payloadToJSON(other ?? {})] })).toMatch(
    /^400 The codec server on h can't decrypt a payload: EVERTURN_CODEC_KEYS does not contain the key “b”\. Add the key to EVERTURN_CODEC_KEYS/,
  );
  for (const target of oddTargets) {
    const { status, text } = await rawRequest(url, target, { method: "POST" });
    expect(status, target.slice(0, 30)).toBeGreaterThanOrEqual(400);
    expect(text, target.slice(0, 30)).not.toContain("secret");
  }
});

test("with a token, it must be in the path or a header", async () => {
  const url = await opened(token);
  const decode = async (path: string, headers = {}) =>
    (await post(`${url}${path}`, { payloads: [plain] }, headers)).status;
  expect(await decode("/decode")).toBe(401);
  expect(await decode("/wrong/decode")).toBe(401);
  expect(await decode("/decode", { authorization: "Bearer wrong" })).toBe(401);
  expect(await decode(`/${encodeURIComponent(token)}/decode`)).toBe(200);
  expect(await decode(`/${encodeURIComponent(token)}/default/decode`)).toBe(200);
  expect(await decode("/decode", { authorization: `Bearer ${token}` })).toBe(200);
});

test("pages of this machine's and of named Temporal UIs may ask, others may not", async () => {
  const url = await opened(token);
  const path = `${url}/${encodeURIComponent(token)}/decode`;
  for (const origin of ["http://localhost:8233", "http://127.0.0.1:41000", "https://temporal.example.com"]) {
    const asked = { origin, "access-control-request-method": "POST" };
    const preflight = await fetch(path, { method: "OPTIONS", headers: asked });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe(origin);
    expect(preflight.headers.get("access-control-allow-headers")).toBe(
      "authorization,content-type,x-namespace",
    );
    expect(preflight.headers.get("access-control-allow-credentials")).toBe("true");
    const { status, headers } = await post(path, { payloads: [plain] }, { origin });
    expect([status, headers.get("access-control-allow-origin")]).toEqual([200, origin]);
  }
  const origin = "https://evil.example.com";
  const { status, headers } = await post(path, { payloads: [plain] }, { origin });
  expect([status, headers.get("access-control-allow-origin")]).toEqual([403, null]);
  const { status: rebound } = await rawRequest(url, "/decode", {
    method: "POST",
    headers: { host: "evil.example.com" },
  });
  expect(rebound).toBe(403);
});
