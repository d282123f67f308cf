import { setTimeout as sleep } from "node:timers/promises";
import type { BrowserContext, Dialog, Page, Request } from "playwright-core";
import type { Gate } from "./gate.ts";
import { Mistake } from "./mistake.ts";
import { partsOf, type View, viewOf } from "./view.ts";

/** Limits on the text of a page and on the number of pages. */
export interface TabLimits {
  characters: number;
  pages: number;
}

/** A page has settled when it has sent no request for `quiet` ms, or after `longest` ms at the latest. */
const quiet = 100;
const longest = 3000;

/** Larger pages are not read: maximum elements and characters. */
const mostElements = 50_000;
const mostText = 2_000_000;

/** A page that opens more dialogs in one call is closed. */
const mostDialogs = 5;

/** How often a page may navigate while it is read. */
const mostLooks = 4;

/** The policy's view: one page of a context at a time, the newest one. */
export class Tab {
  readonly #context: BrowserContext;
  readonly #gate: Gate;
  readonly #limits: TabLimits;
  /** The requests that a page waits for. */
  readonly #requests = new Map<Page, Set<Request>>();
  /** Requests of opening pages. Playwright reports such a page only after its first response. */
  readonly #opening = new Set<Request>();
  #page: Page;
  #parts: string[] = [];
  #refs = new Map<number, string>();
  #dialogs = 0;
  #isReplacing = false;
  /** The events since the last view. */
  #notes: string[] = [];
  #failed: { url: string; reason: string } | undefined;
  /** The part of the view that is shown, from 0. */
  position = 0;

  private constructor(context: BrowserContext, page: Page, gate: Gate, limits: TabLimits) {
    this.#context = context;
    this.#page = page;
    this.#gate = gate;
    this.#limits = limits;
    context.on("page", (opened) => this.#welcome(opened));
    context.on("request", (request) => {
      if (!this.#isOfKnownPage(request)) this.#opening.add(request);
    });
    context.on("requestfinished", (request) => this.#opening.delete(request));
    context.on("requestfailed", (request) => this.#opening.delete(request));
    this.#watch(page);
  }

  static async open(context: BrowserContext, gate: Gate, limits: TabLimits): Promise<Tab> {
    return new Tab(context, await context.newPage(), gate, limits);
  }

  get page(): Page {
    return this.#page;
  }

  /** Forgets the events before a call. */
  begin(): void {
    this.#dialogs = 0;
    this.#notes = [];
    this.#failed = undefined;
  }

  /** Playwright's reference for a number in the last view. */
  ref(number: number): string {
    const ref = this.#refs.get(number);
    if (ref === undefined) throw new Mistake(`there is no [${number}] on the page`);
    return ref;
  }

  /** Waits until the page has loaded and sends no more requests. */
  async settle(): Promise<void> {
    const until = performance.now() + longest;
    await sleep(quiet / 2);
    for (let since = performance.now(); performance.now() < until; await sleep(quiet / 5)) {
      const waiting = (this.#requests.get(this.#page)?.size ?? 0) + this.#opening.size;
      if (waiting > 0) since = performance.now();
      if (performance.now() - since >= quiet) return;
    }
  }

  /** Reads the page's current state. */
  async look(): Promise<void> {
    const { lines, refs } = await this.#view();
    this.#refs = refs;
    this.#parts = partsOf(lines, this.#limits.characters);
    this.position = Math.max(0, Math.min(this.position, this.#parts.length - 1));
  }

  /**
   * Returns the shown part with the page's title and URL and the events. `failed` means that the requested
   * page did not load.
   */
  async told(): Promise<{ text: string; failed: boolean }> {
    const url = this.#page.url();
    const title = url.startsWith("chrome-error:") ? "" : (await this.#page.title()).trim();
    const failure = this.#failure(url);
    const count = this.#parts.length;
    const where = count > 1 ? [`(part ${this.position + 1} of ${count})`] : [];
    const shown =
      failure === undefined ? [this.#parts[this.position] || "(the page is empty)", ...where] : [failure];
    const head = failure === undefined ? [[title, url].filter(Boolean).join(" — ")] : [];
    return { text: [...head, ...this.#notes, ...shown].join("\n"), failed: failure !== undefined };
  }

  get count(): number {
    return this.#parts.length;
  }

  /** Finds the lines that contain a text, each with its part. */
  find(text: string): { line: string; part: number }[] {
    const wanted = text.toLowerCase();
    return this.#parts.flatMap((part, index) =>
      part
        .split("\n")
        .filter((line) => line.toLowerCase().includes(wanted))
        .map((line) => ({ line: line.trim(), part: index + 1 })),
    );
  }

  /** Goes back to the previous page, or to the page that opened this one. */
  async back(): Promise<void> {
    const before = this.#page.url();
    await this.#travel("goBack");
    const after = this.#page.url();
    if (after !== before && after !== "about:blank") return;
    if (this.#context.pages().length > 1) return this.#page.close();
    if (after !== before) {
      await this.#travel("goForward");
      await this.settle();
      await this.look(); // updates the references of the numbers
    }
    throw new Mistake("there is no page before this one");
  }

  /** Chromium refuses for a moment while another process takes over the page. */
  async #travel(direction: "goBack" | "goForward"): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#page[direction]({ waitUntil: "commit" });
        return;
      } catch (error) {
        if (tries === 10 || !String(error).includes("Not attached to an active page")) throw error;
        await sleep(50);
      }
    }
  }

  /**
   * Closes all pages, even if they hang, and shows an empty one. A page that hangs or crashes takes the pages
   * it opened with it.
   */
  async replace(): Promise<void> {
    const before = this.#context.pages();
    this.#isReplacing = true;
    try {
      this.#page = await this.#context.newPage();
    } finally {
      this.#isReplacing = false;
    }
    for (const page of before) void page.close().catch(() => {}); // does not wait: the browser kills a page that hangs
    this.position = 0;
  }

  async #view(): Promise<View> {
    if (this.#page.url().startsWith("chrome-error:")) return { lines: [], refs: new Map() };
    for (let looks = 1; ; looks++) {
      try {
        const [elements, text] = await this.#page.evaluate<[number, number]>(
          "[document.getElementsByTagName('*').length, document.documentElement?.textContent?.length ?? 0]",
        );
        if (elements > mostElements || text > mostText)
          return {
            lines: [`(the page is too large to be read: ${elements} elements, ${text} characters)`],
            refs: new Map(),
          };
        return viewOf(await this.#page.ariaSnapshot({ mode: "ai" }));
      } catch (error) {
        if (!/context was destroyed|navigat|Frame was detached/.test(String(error))) throw error;
        if (looks === mostLooks)
          return { lines: ["(the page goes on to another without end)"], refs: new Map() };
        await this.settle();
      }
    }
  }

  #failure(url: string): string | undefined {
    if (url.startsWith("chrome-error:")) {
      const { url: wanted, reason } = this.#failed ?? { url: "the page", reason: "unknown" };
      return `error: ${wanted} could not be opened: ${this.#gate.refusal(wanted) ?? reason}`;
    }
    const refused = this.#gate.refusal(url);
    return refused === undefined ? undefined : `error: ${url} could not be opened: ${refused}`;
  }

  #welcome(opened: Page): void {
    if (this.#isReplacing) this.#watch(opened);
    if (this.#isReplacing || opened === this.#page) return;
    if (this.#context.pages().length > this.#limits.pages) {
      this.#note(`(a page that opened was closed: there may be ${this.#limits.pages})`);
      void opened.close().catch(() => {});
      return;
    }
    this.#watch(opened);
    this.#show(opened);
    this.#note("(a new page opened)");
  }

  #isOfKnownPage(request: Request): boolean {
    try {
      return this.#requests.has(request.frame().page());
    } catch {
      return false; // Playwright has no frame for a page that it has not reported yet
    }
  }

  #watch(page: Page): void {
    const requests = new Set<Request>();
    this.#requests.set(page, requests);
    page.on("request", (request) => requests.add(request));
    page.on("requestfinished", (request) => requests.delete(request));
    page.on("requestfailed", (request) => {
      requests.delete(request);
      if (request.isNavigationRequest())
        this.#failed = { url: request.url(), reason: request.failure()?.errorText ?? "unknown" };
    });
    page.on("dialog", (dialog) => this.#answer(page, dialog));
    page.on("download", () => this.#note("(the page offered a download, which was refused)"));
    page.on("crash", () => this.#note("(the page crashed)"));
    page.on("framenavigated", (frame) => {
      if (frame === page.mainFrame() && page === this.#page) this.position = 0;
    });
    page.on("close", () => {
      this.#requests.delete(page);
      const left = this.#context.pages().at(-1);
      if (page === this.#page && left !== undefined) this.#show(left);
    });
  }

  #answer(page: Page, dialog: Dialog): void {
    if (++this.#dialogs > mostDialogs) {
      if (this.#dialogs === mostDialogs + 1)
        this.#note("(the page opened one dialog after the other, and was closed)");
      void page.close().catch(() => {});
      return;
    }
    const isQuestion = dialog.type() === "prompt";
    if (dialog.type() !== "beforeunload")
      this.#note(
        `(the page said: ${JSON.stringify(dialog.message().slice(0, 500))}; ${isQuestion ? "cancelled" : "OK"})`,
      );
    void (isQuestion ? dialog.dismiss() : dialog.accept()).catch(() => {});
  }

  #show(page: Page): void {
    this.#page = page;
    this.position = 0;
  }

  #note(text: string): void {
    this.#notes.push(text);
  }
}
