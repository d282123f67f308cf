import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import type { Backend } from "./backend.ts";

/** What the module at a store's URL exports as its default: it opens the objects of a run. */
export type OpenBackend = (url: URL, run: string) => Backend | Promise<Backend>;

/**
 * The backend that a URL names: that of a module (`file:///…/objects.ts?bucket=…`), which is given the URL. Throws
 * STORE_UNUSABLE.
 */
export async function namedBackend(url: string, run: string): Promise<Backend> {
  try {
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

/** A backend that is opened when it is first asked for something; one that can't be opened is tried again. */
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
