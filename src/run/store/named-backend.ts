import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import type { Backend } from "./backend.ts";
import { isS3Address, placeOfRun, s3Place } from "./s3/place.ts";

/** The type of the default export of the module at a store's URL. It opens the objects of a run. */
export type OpenBackend = (url: URL, run: string) => Backend | Promise<Backend>;

/**
 * The backend of a run in the store at a URL: `s3://bucket/prefix`, or the URL of a module
 * (`file:///…/objects.ts?bucket=…`), which receives it. Throws STORE_UNUSABLE.
 */
export async function namedBackend(url: string, run: string): Promise<Backend> {
  try {
    if (isS3Address(url)) {
      const { s3Backend } = await import("./s3/backend.ts"); // the client takes long to load
      return s3Backend(placeOfRun(s3Place(url), run));
    }
    const { default: open }: { default: OpenBackend } = await import(url);
    return await open(new URL(url), run);
  } catch (error) {
    throw new EverturnError(
      "STORE_UNUSABLE",
      { store: url, run, reason: messageOf(error) },
      { cause: error },
    );
  }
}

/**
 * The names of the runs in the store at a URL, and of other places in it. None for a module's URL, which can't list
 * them. Throws STORE_ADDRESS_INVALID, STORE_REFUSED and STORE_NOT_READABLE.
 */
export async function runNames(url: string): Promise<string[]> {
  if (!isS3Address(url)) return [];
  const { s3RunNames } = await import("./s3/run-names.ts");
  return s3RunNames(s3Place(url));
}

/**
 * Proves that a store can be used. Throws STORE_ADDRESS_INVALID, STORE_REFUSED, STORE_WITHOUT_CONDITIONS,
 * STORE_NOT_READABLE and STORE_NOT_WRITABLE.
 */
export async function checkStore(url: string): Promise<void> {
  if (!isS3Address(url)) return;
  const { checkS3Place } = await import("./s3/preflight.ts");
  await checkS3Place(s3Place(url));
}

/** A backend that opens on first use. If that fails, the next use tries again. */
export function lazyBackend(open: () => Promise<Backend>): Backend {
  let opening: Promise<Backend> | undefined;
  const opened = () => {
    opening ??= open().catch((error) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    put: async (...args) => (await opened()).put(...args),
    get: async (...args) => (await opened()).get(...args),
    size: async (...args) => (await opened()).size(...args),
    digest: async (...args) => (await opened()).digest(...args),
    remove: async (...args) => (await opened()).remove(...args),
    page: async (...args) => (await opened()).page(...args),
    fill: async (...args) => (await opened()).fill(...args),
    inFolder: async (...args) => (await opened()).inFolder(...args),
    sweep: async () => (await opened()).sweep(),
  };
}
