import { hostname } from "node:os";
import type { RecordedKey, RunFile } from "../../contracts/run.ts";
import { runFolder } from "../../run/folder/run-folder.ts";
import { encryptionRow } from "../../run/store/keys.ts";
import { openStoreOf } from "../../run/store/open-run-store.ts";
import { addToRow, readRow } from "../../run/store/row.ts";
import { type CodecKey, codecKeys } from "./codec-keys.ts";
import { type Encryption, keyMissing, keyWrong } from "./encryption-codec.ts";

/** What identifies the first key of EVERTURN_CODEC_KEYS, for a new run; undefined without keys. */
export function keyOfNewRun(): RecordedKey | undefined {
  const [key] = codecKeys();
  return key && recorded(key);
}

/**
 * How this process encrypts the payloads of a run: with the key that the run recorded last. Undefined if the run
 * was created without keys. `who` names the process in errors. Throws CODEC_KEY_MISSING and CODEC_KEY_WRONG unless
 * `keys`, by default those in the environment, contain every key of the run, and CODEC_KEYS_MALFORMED.
 */
export async function runEncryption(
  runs: string,
  file: RunFile,
  who: string = `This process (${process.pid} on ${hostname()})`,
  keys: readonly CodecKey[] = codecKeys(),
): Promise<Encryption | undefined> {
  if (file.encryption === undefined) return undefined;
  const used = [file.encryption, ...(await readRow(storeOf(runs, file), encryptionRow))];
  const found = used.map((one) => foundKey(one, keys, file.run, who));
  const key = found.at(-1);
  return key && { key, keys, who };
}

/**
 * Makes the first key of EVERTURN_CODEC_KEYS the one that encrypts an encrypted run's payloads. Processes that start
 * from now on use it.
 */
export async function rotateKey(runs: string, file: RunFile): Promise<void> {
  const [first] = codecKeys();
  if (file.encryption === undefined || first === undefined) return;
  const { encryption } = file;
  await addToRow(storeOf(runs, file), encryptionRow, (standing) => {
    const newest = standing.at(-1) ?? encryption;
    return newest.id === first.id ? undefined : recorded(first);
  });
}

function recorded({ id, check }: CodecKey): RecordedKey {
  return { id, check };
}

function foundKey({ id, check }: RecordedKey, keys: readonly CodecKey[], run: string, who: string): CodecKey {
  const found = keys.find((one) => one.id === id);
  if (found === undefined) throw keyMissing(who, id, `the payloads of ${run}`);
  if (found.check !== check) throw keyWrong(who, id, `the run ${run} was encrypted with another one`);
  return found;
}

function storeOf(runs: string, file: RunFile) {
  return openStoreOf(runFolder(runs, file.run).root, file);
}
