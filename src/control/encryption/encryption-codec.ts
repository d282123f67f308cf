import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Payload, PayloadCodec } from "@temporalio/common";
import proto from "@temporalio/proto";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { type CodecKey, codecKeysVariable } from "./codec-keys.ts";

const { Payload: Message } = proto.temporal.api.common.v1;

const cipher = "aes-256-gcm";

/** The lengths of a nonce and of an authentication tag, in bytes. */
const [nonceLength, tagLength] = [12, 16];

/** The metadata of an encrypted payload, as in Temporal's samples for Go and TypeScript. */
const encrypted = Buffer.from("binary/encrypted");
const keyId = "encryption-key-id";

/** How a process encrypts payloads. */
export interface Encryption {
  /** Encrypts. */
  key: CodecKey;
  /** Decrypt; include `key`. */
  keys: readonly CodecKey[];
  /** Names the process in errors, for example “The tools worker of RUN on HOST”. */
  who: string;
}

/**
 * Encrypts each payload, with its metadata, by AES-256-GCM: the data is the nonce, the ciphertext and the tag. Payloads
 * that are not encrypted stay unchanged. `decode` throws CODEC_KEY_MISSING and CODEC_KEY_WRONG.
 */
export function encryptionCodec({ key, keys, who }: Encryption): PayloadCodec {
  const known = new Map(keys.map((one) => [one.id, one]));
  const id = Buffer.from(key.id);

  function decrypted(payload: Payload): Payload {
    const { metadata, data } = payload;
    if (!metadata || !encrypted.equals(metadata.encoding ?? Buffer.of())) return payload;
    const name = Buffer.from(metadata[keyId] ?? []).toString();
    const found = known.get(name);
    if (found === undefined) throw keyMissing(who, name, "a payload");
    try {
      return Message.decode(open(found, data ?? Buffer.of()));
    } catch (cause) {
      const reason = "a payload can't be decrypted with it, unless the payload itself is damaged";
      throw keyWrong(who, name, reason, cause);
    }
  }

  return {
    encode: async (payloads) =>
      payloads.map((payload) => ({
        metadata: { encoding: encrypted, [keyId]: id },
        data: seal(key, Message.encode(payload).finish()),
      })),
    decode: async (payloads) => payloads.map(decrypted),
  };
}

function seal({ secret }: CodecKey, plain: Uint8Array): Uint8Array {
  const nonce = randomBytes(nonceLength);
  const sealing = createCipheriv(cipher, secret, nonce);
  return Buffer.concat([nonce, sealing.update(plain), sealing.final(), sealing.getAuthTag()]);
}

function open({ secret }: CodecKey, data: Uint8Array): Uint8Array {
  const end = data.length - tagLength;
  const opening = createDecipheriv(cipher, secret, data.subarray(0, nonceLength), {
    authTagLength: tagLength,
  });
  opening.setAuthTag(data.subarray(end));
  return Buffer.concat([opening.update(data.subarray(nonceLength, end)), opening.final()]);
}

/** The error that a process lacks a key that it needs. */
export function keyMissing(who: string, key: string, what: string): EverturnError {
  return new EverturnError("CODEC_KEY_MISSING", { who, key, what, variable: codecKeysVariable });
}

/** The error that a process has another key under an id. */
export function keyWrong(who: string, key: string, reason: string, cause?: unknown): EverturnError {
  const params = { who, key, reason, variable: codecKeysVariable };
  return new EverturnError("CODEC_KEY_WRONG", params, cause === undefined ? {} : { cause });
}
