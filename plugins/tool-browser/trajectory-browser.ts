import { stripVTControlCharacters } from "node:util";
import type { ToolResponse } from "everturn/plugin";
import { errors } from "playwright-core";
import { type Action, act } from "./actions.ts";
import { openProfile, type Profile, type StorageState } from "./browser.ts";
import { Mistake } from "./mistake.ts";
import type { Settings } from "./settings.ts";
import { Tab } from "./tab.ts";

/**
 * The state from which a trajectory's browser continues in another worker or browser. With an archive: the
 * calls so far, which the archive answers as before. With live pages, where calls are not repeated: the
 * page's URL and its site's storage.
 */
export type Saved = { calls: Action[] } | { url: string; part: number; storage: StorageState | undefined };

interface Opened {
  profile: Profile;
  tab: Tab;
}

/** Milliseconds after which the browser counts as hanging. */
const patience = 15_000;

/**
 * A trajectory's browser. The first call opens it. After a failed call, it is reopened from the saved state.
 */
export class TrajectoryBrowser {
  readonly #settings: Settings;
  #saved: Saved;
  #opened: Opened | undefined;

  constructor(settings: Settings, saved?: Saved) {
    this.#settings = settings;
    const isRecorded = settings.archive !== undefined;
    this.#saved = saved ?? (isRecorded ? { calls: [] } : { url: "about:blank", part: 0, storage: undefined });
  }

  get saved(): Saved {
    return this.#saved;
  }

  /**
   * Makes a call. A mistake of the model or the page becomes an answer. Throws the browser's errors and the
   * signal's reason.
   */
  async call(call: Action, signal: AbortSignal): Promise<ToolResponse> {
    try {
      const opened = this.#opened?.profile.shared.browser.isConnected()
        ? this.#opened
        : await this.#open(signal);
      const answer = await this.#answer(opened, call, signal);
      this.#saved = await this.#save(opened, call, signal);
      return answer;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.profile.close();
  }

  async #open(signal: AbortSignal): Promise<Opened> {
    await this.close();
    const saved = this.#saved;
    const opening = openProfile(this.#settings, "storage" in saved ? saved.storage : undefined);
    const profile = await unlessAborted(opening, signal).catch((error: unknown) => {
      void opening.then(
        (late) => late.close(),
        () => {},
      );
      throw error;
    });
    const { characters, pages, time } = this.#settings;
    profile.context.setDefaultTimeout((time * 1000) / 2);
    const opened = {
      profile,
      tab: await Tab.open(profile.context, profile.shared.gate, { characters, pages }).catch(
        async (error: unknown) => {
          await profile.close();
          throw error;
        },
      ),
    };
    this.#opened = opened;
    if ("calls" in saved) for (const call of saved.calls) await this.#answer(opened, call, signal);
    else if (saved.url !== "about:blank") {
      await this.#answer(opened, { name: "open", arguments: { url: saved.url } }, signal);
      opened.tab.position = saved.part;
      await this.#answer(opened, { name: "find", arguments: { text: "" } }, signal);
    }
    return opened;
  }

  async #answer(opened: Opened, call: Action, signal: AbortSignal): Promise<ToolResponse> {
    const { profile, tab } = opened;
    const { time, characters } = this.#settings;
    const acting = act(tab, call, { archive: profile.shared.archive, characters });
    try {
      const answer = await unlessAborted(acting, signal, time * 1000);
      if (answer !== undefined) return answer;
      await this.#replace(opened, signal);
      return { text: `error: the page did not answer within ${time} s, and was closed`, error: true };
    } catch (error) {
      if (signal.aborted || !profile.shared.browser.isConnected()) throw error;
      if (error instanceof Mistake) return { text: `error: ${error.message}`, error: true };
      if (!(error instanceof Error) || !isPages(error)) throw error;
      if (!/Target (page, context or browser has been closed|crashed)/.test(error.message))
        return { text: `error: ${reasonOf(error)}`, error: true };
      await this.#replace(opened, signal);
      const { text } = await tab.told().catch(() => ({ text: "" }));
      return {
        text: `error: the page has ended (it crashed, or closed itself)\n${text}`.trim(),
        error: true,
      };
    }
  }

  async #replace({ tab }: Opened, signal: AbortSignal): Promise<void> {
    const isDone = await unlessAborted(
      tab
        .replace()
        .then(() => tab.look())
        .then(() => true),
      signal,
      patience,
    );
    if (isDone === undefined) throw new Error("the browser does not open pages any more");
  }

  async #save({ profile, tab }: Opened, call: Action, signal: AbortSignal): Promise<Saved> {
    const before = this.#saved;
    if ("calls" in before) return { calls: [...before.calls, call] };
    const storage = await unlessAborted(profile.context.storageState(), signal, patience / 3);
    return { url: tab.page.url(), part: tab.position, storage: storage ?? before.storage };
  }
}

/** The result of a promise. Undefined if it takes longer than `time` ms. Throws the signal's reason. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T>;
async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  time: number,
): Promise<T | undefined>;
async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  time?: number,
): Promise<T | undefined> {
  signal.throwIfAborted();
  const { promise: stopped, resolve, reject } = Promise.withResolvers<undefined>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort);
  const timer = time === undefined ? undefined : setTimeout(resolve, time, undefined);
  promise.catch(() => {}); // ignored after that
  try {
    return await Promise.race([promise, stopped]);
  } finally {
    signal.removeEventListener("abort", abort);
    clearTimeout(timer);
  }
}

/** Whether an error comes from Playwright, rather than from a mistake in this plugin. */
function isPages(error: Error): boolean {
  return (
    error instanceof errors.TimeoutError || /^(page|locator|frame|elementHandle)\.\w+: /.test(error.message)
  );
}

/** The reason in one line, with what blocked a click. */
function reasonOf({ message }: Error): string {
  const lines = stripVTControlCharacters(message).split("\n");
  const cause = lines
    .map((line) => line.trim().replace(/^- /, ""))
    .findLast((line) =>
      /intercepts pointer|not visible|not enabled|not editable|outside of the viewport/.test(line),
    );
  const [first = ""] = lines;
  return [first.replace(/^\w+\.\w+: (Error: )?/, ""), cause].filter(Boolean).join(" ").slice(0, 500);
}
