import { randomBytes, webcrypto } from "node:crypto";
import { defaultPayloadConverter } from "@temporalio/common";
import proto from "@temporalio/proto";
import { expect, test } from "vitest";
import { codecKeys } from "../../../../src/control/encryption/codec-keys.ts";
import { encryptionCodec } from "../../../../src/control/encryption/encryption-codec.ts";

const [one, two] = [randomBytes(32), randomBytes(32)];
const entry = (id: string, key: Buffer) => `${id}:${key.toString("base64")}`;
const secret = "what is 17 times 23?";
const payload = defaultPayloadConverter.toPayload({ secret });
const who = "The tools worker of r on h";

/** The codec of a process whose variable has this text. */
function codecOf(variable: string) {
  const keys = codecKeys({ EVERTURN_CODEC_KEYS: variable });
  const [key] = keys;
  if (key === undefined) throw new Error("no key");
  return encryptionCodec({ key, keys, who });
}

test("a payload and its metadata come back whole, and nothing of them is readable meanwhile", async () => {
  const codec = codecOf(entry("a", one));
  const [sealed, again] = await codec.encode([payload, payload]);
  const bytes = Buffer.from(sealed?.data ?? []);
  expect(bytes.includes("17")).toBe(false);
  expect(bytes.includes("json/plain")).toBe(false);
  expect(bytes.equals(again?.data ?? Buffer.of()), "equal payloads look different").toBe(false);
  const [back] = await codec.decode([sealed ?? {}]);
  expect(defaultPayloadConverter.fromPayload(back ?? {})).toEqual({ secret });
});

test("the form is that of Temporal's samples, so that other codec servers can read it", async () => {
  const [sealed] = await codecOf(entry("a", one)).encode([payload]);
  const { metadata, data } = sealed ?? {};
  const text = (name: string) => Buffer.from(metadata?.[name] ?? []).toString();
  expect([text("encoding"), text("encryption-key-id")]).toEqual(["binary/encrypted", "a"]);
  const bytes = new Uint8Array(data ?? []);
  const key = await webcrypto.subtle.importKey("raw", one, "AES-GCM", false, ["decrypt"]);
  const algorithm = { name: "AES-GCM", iv: bytes.subarray(0, 12) };
  const plain = await webcrypto.subtle.decrypt(algorithm, key, bytes.subarray(12));
  const { Payload } = proto.temporal.api.common.v1;
  expect(defaultPayloadConverter.fromPayload(Payload.decode(new Uint8Array(plain)))).toEqual({ secret });
});

test("after a rotation the first key encrypts, and the others still decrypt", async () => {
  const [old] = await codecOf(entry("a", one)).encode([payload]);
  const rotated = codecOf(`${entry("b", two)},\n${entry("a", one)}`);
  const [newer] = await rotated.encode([payload]);
  expect(Buffer.from(newer?.metadata?.["encryption-key-id"] ?? []).toString()).toBe("b");
  expect(await rotated.decode([old ?? {}, newer ?? {}])).toHaveLength(2);
  await expect(codecOf(entry("a", one)).decode([newer ?? {}])).rejects.toThrow(
    `${who} can't decrypt a payload: EVERTURN_CODEC_KEYS does not contain the key “b”. Add the key to EVERTURN_CODEC_KEYS in its environment, as \`b:KEY\`, and start it again.`,
  );
});

test("payloads that are not encrypted stay unchanged", async () => {
  expect(await codecOf(entry("a", one)).decode([payload, {}])).toEqual([payload, {}]);
});

test("another key under the same id, and a changed or cut payload, are named", async () => {
  const codec = codecOf(entry("a", one));
  const [sealed] = await codec.encode([payload]);
  const wrong = `${who} has a wrong key “a”: a payload can't be decrypted with it`;
  await expect(codecOf(entry("a", two)).decode([sealed ?? {}])).rejects.toThrow(wrong);
  const changed = Buffer.from(sealed?.data ?? []);
  changed[20] = (changed[20] ?? 0) ^ 1;
  await expect(codec.decode([{ ...sealed, data: changed }])).rejects.toThrow(wrong);
  for (const length of [0, 5, 12, 20]) {
    const cut = changed.subarray(0, length);
    await expect(codec.decode([{ ...sealed, data: cut }]), `${length} bytes`).rejects.toThrow(wrong);
  }
});

test("malformed keys are named by their id or place, never by their text", () => {
  const read = (variable: string) => () => codecKeys({ EVERTURN_CODEC_KEYS: variable });
  const text = one.toString("base64");
  const malformed: [string, RegExp][] = [
    [text, /^EVERTURN_CODEC_KEYS can't be read: entry 1 is not an id of letters/],
    [`${entry("a", one)} ${text}`, /entry 2 is not an id/],
    [`a:${text.slice(0, 30)}`, /the key “a” is not 32 bytes in base64/],
    [`a:${randomBytes(16).toString("base64")}`, /the key “a” is not 32 bytes/],
    [`a:${one.toString("hex")}`, /the key “a” is not 32 bytes/],
    [`${entry("a", one)},${entry("a", two)}`, /the id “a” appears twice/],
  ];
  for (const [variable, message] of malformed) {
    expect(read(variable)).toThrow(message);
    expect(read(variable)).not.toThrow(text.slice(5, 25));
  }
  expect(read("")()).toEqual([]);
  expect(read(`a:${one.toString("base64url")}`)()).toHaveLength(1);
});
