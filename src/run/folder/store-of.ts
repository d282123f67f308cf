import { join } from "node:path";
import { isThere } from "../../base/files/is-there.ts";
import { patiently } from "../../base/files/patiently.ts";
import { readRecord, writeWhole } from "../../base/files/whole-files.ts";

/** Names the store in a folder of its runs: `{"store":"s3://bucket/prefix"}`. */
const storeFile = "store.json";

/** The store whose runs a folder is for; undefined for a usual folder. */
export async function storeOf(runs: string): Promise<string | undefined> {
  return (await patiently(() => readRecord<{ store: string }>(join(runs, storeFile))))?.store;
}

/** Makes a folder the one for a store's runs. */
export async function keepStore(runs: string, store: string): Promise<void> {
  if (isThere(join(runs, storeFile))) return;
  await patiently(() => writeWhole(join(runs, storeFile), `${JSON.stringify({ store })}\n`));
}

/** A run as commands take it, for hints: its id, or its address if its folder is for a store. */
export async function nameForCommands(runs: string, run: string): Promise<string> {
  const store = await storeOf(runs);
  return store === undefined ? run : `${store}/${run}`;
}
