import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, type BrowserContext, chromium } from "playwright-core";
import { type Archive, readArchive } from "./archive.ts";
import { findExecutable } from "./executable.ts";
import { type Gate, openGate } from "./gate.ts";
import { serveRecorded } from "./recorded-pages.ts";
import type { Settings } from "./settings.ts";

/** A browser that all trajectories of a worker share. Each has a context of its own. */
export interface SharedBrowser {
  browser: Browser;
  gate: Gate;
  archive: Archive | undefined;
  /** The number of open contexts. */
  used: number;
}

/** A trajectory's part of a browser, with its own cookies, storage and pages. */
export interface Profile {
  context: BrowserContext;
  shared: SharedBrowser;
  close(): Promise<void>;
}

/** The state with which a context continues in another browser. */
export type StorageState = Awaited<ReturnType<BrowserContext["storageState"]>>;

/** Milliseconds after which an unused browser is closed. */
const idle = 10_000;

/** Milliseconds after which a context that hangs is left to the browser. */
const patience = 5000;

/** The browsers by their settings. */
const browsers = new Map<string, Promise<SharedBrowser>>();

/**
 * Opens a context in the worker's browser. Starts the browser if necessary. Throws if none is installed or it
 * does not start.
 */
export async function openProfile(settings: Settings, storageState?: StorageState): Promise<Profile> {
  const shared = await sharedBrowser(settings);
  shared.used++;
  try {
    const context = await shared.browser.newContext({
      acceptDownloads: false,
      serviceWorkers: "block",
      viewport: { width: 1024, height: 768 },
      locale: "en-US",
      timezoneId: "UTC",
      colorScheme: "light",
      reducedMotion: "reduce",
      ...(storageState === undefined ? {} : { storageState }),
    });
    if (shared.archive !== undefined) await serveRecorded(context, shared.archive);
    let isOpen = true;
    return {
      context,
      shared,
      close: async () => {
        if (!isOpen) return;
        isOpen = false;
        const closing = context.close().catch(() => {}); // its browser has ended, and the context with it
        await Promise.race([closing, sleep(patience, undefined, { ref: false })]);
        letGo(shared);
      },
    };
  } catch (error) {
    letGo(shared);
    throw error;
  }
}

function letGo(shared: SharedBrowser): void {
  shared.used--;
  const timer = setTimeout(() => {
    if (shared.used > 0) return;
    for (const [key, one] of browsers) void one.then((known) => known === shared && browsers.delete(key));
    void shared.browser.close().catch(() => {});
  }, idle);
  timer.unref();
}

async function sharedBrowser(settings: Settings): Promise<SharedBrowser> {
  const { archive, hosts, executable, memory } = settings;
  const key = JSON.stringify([archive, hosts, settings.private, executable, memory]);
  const known = browsers.get(key);
  if (known !== undefined) {
    const shared = await known;
    if (shared.browser.isConnected()) return shared;
    if (browsers.get(key) !== known) return sharedBrowser(settings); // another call has started one in the meantime
  }
  const starting = start(settings);
  browsers.set(key, starting);
  const forget = () => {
    if (browsers.get(key) === starting) browsers.delete(key);
  };
  starting.then(({ browser }) => browser.on("disconnected", forget), forget);
  return starting;
}

async function start(settings: Settings): Promise<SharedBrowser> {
  const archive = settings.archive === undefined ? undefined : readArchive(settings.archive);
  const executablePath = await findExecutable(settings.executable);
  const gate = await openGate(settings);
  try {
    const browser = await chromium.launch({
      executablePath,
      chromiumSandbox: process.getuid?.() !== 0, // Chromium's own sandbox does not work as root
      proxy: { server: `http://127.0.0.1:${gate.port}`, bypass: "<-loopback>" },
      args: [
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-quic",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", // only the gate resolves names
        `--js-flags=--max-old-space-size=${settings.memory}`,
      ],
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
    browser.on("disconnected", () => gate.close());
    return { browser, gate, archive, used: 0 };
  } catch (error) {
    gate.close();
    const [first] = String(error instanceof Error ? error.message : error).split("\n");
    throw new Error(`${executablePath} did not start as a browser: ${first}`, { cause: error });
  }
}
