import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { RecordedKey } from "../../contracts/run.ts";

/** The environment variable with the keys: `id:key` pairs, separated by commas or white space. */
export const codecKeysVariable = "EVERTURN_CODEC_KEYS";

/** A key that encrypts payloads, with the id that payloads name it by. */
export interface CodecKey extends RecordedKey {
  secret: KeyObject;
}

/**
 * The keys in EVERTURN_CODEC_KEYS. The first one encrypts, and all of them decrypt. Empty if the variable is not
 * set. Throws CODEC_KEYS_MALFORMED, which never contains a key.
 */
export function codecKeys(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): CodecKey[] {
  const entries = (environment[codecKeysVariable] ?? "").split(/[\s,]+/).filter((entry) => entry !== "");
  const keys = entries.map((entry, at) => keyIn(entry, at + 1));
  const twice = keys.find(({ id }, at) => keys.findIndex((one) => one.id === id) !== at);
  if (twice !== undefined) throw keysMalformed(`the id “${twice.id}” appears twice`);
  return keys;
}

function keyIn(entry: string, number: number): CodecKey {
  const [, id, text = ""] = /^([\w.-]{1,64}):(.*)$/.exec(entry) ?? [];
  if (id === undefined)
    throw keysMalformed(
      `entry ${number} is not an id of letters, digits, “.”, “_” and “-”, followed by “:” and a key`,
    );
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) throw keysMalformed(`the key “${id}” is not 32 bytes in base64`);
  const bytes = Buffer.from(text, "base64");
  const check = createHmac("sha256", bytes).update("everturn codec key").digest("hex").slice(0, 16);
  return { id, check, secret: createSecretKey(bytes) };
}

/** The error that EVERTURN_CODEC_KEYS cannot be used. */
export function keysMalformed(reason: string): EverturnError {
  return new EverturnError("CODEC_KEYS_MALFORMED", { variable: codecKeysVariable, reason });
}
