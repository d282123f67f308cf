import type { JsonObject, ToolResponse } from "everturn/plugin";
import type { Locator } from "playwright-core";
import type { Archive } from "./archive.ts";
import { Mistake } from "./mistake.ts";
import type { Tab } from "./tab.ts";

/** A call of one of the functions. */
export interface Action {
  name: string;
  arguments: JsonObject;
}

interface Place {
  archive: Archive | undefined;
  /** The maximum characters of `find`'s result. */
  characters: number;
}

/** Makes a call, and returns the page after it. Throws Mistake and the browser's errors. */
export async function act(tab: Tab, { name, arguments: given }: Action, place: Place): Promise<ToolResponse> {
  tab.begin();
  if (name === "find") {
    await tab.look();
    return { text: found(tab, String(given.text), place.characters) };
  }
  if (name === "screenshot") return { content: [{ type: "image", data: await screenshot(tab) }] };
  if (name === "open") {
    const invalid = await open(tab, String(given.url), place.archive);
    if (invalid !== undefined) return { invalid };
  } else if (name === "scroll") await scroll(tab, given.part === undefined ? undefined : Number(given.part));
  else if (name === "back") await tab.back();
  else await use(tab, name, given);
  await tab.settle();
  if (tab.page.isClosed()) await tab.replace();
  await tab.look();
  const { text, failed } = await tab.told();
  return failed ? { text, error: true } : { text };
}

/** Opens a URL. Returns the reason if it may not be opened. */
async function open(tab: Tab, url: string, archive: Archive | undefined): Promise<string | undefined> {
  const address = URL.parse(url);
  if (address === null || !/^https?:$/.test(address.protocol))
    return `${url.slice(0, 200)} is no URL that can be opened: it begins with https:// or http://`;
  if (archive !== undefined) {
    try {
      if (archive.answer("GET", address.href, null) === undefined)
        return `${address.href} is not in the archive of recorded pages`;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  await tab.page.goto(address.href, { waitUntil: "load" }).catch((error: Error) => {
    if (/Download is starting/.test(error.message)) throw new Mistake(`${url} is a download, not a page`);
    if (!/net::ERR_|interrupted by another navigation|frame was detached/i.test(error.message)) throw error;
  });
  return undefined;
}

async function use(tab: Tab, name: string, given: JsonObject): Promise<void> {
  const number = Number(given.number);
  const target = tab.page.locator(`aria-ref=${tab.ref(number)}`);
  if ((await target.count()) === 0) throw new Mistake(`[${number}] is not on the page any more`);
  if (name === "click") return target.click();
  if (name === "type") {
    await target.fill(String(given.text));
    if (given.submit === true) await target.press("Enter");
    return;
  }
  if (name === "select") return select(target, String(given.option));
  throw new Error(`there is no function ${name}`);
}

async function select(target: Locator, option: string): Promise<void> {
  const labels = await target.evaluate((element: unknown): string[] =>
    Array.from(Object(element).options ?? [], (one) => String(Object(one).label).trim()),
  );
  const index = labels.indexOf(option.trim());
  if (labels.length === 0)
    throw new Mistake("it has no options to select from: click it, or one of its items");
  if (index < 0)
    throw new Mistake(`there is no option ${JSON.stringify(option)}, but ${labels.slice(0, 50).join(", ")}`);
  await target.selectOption({ index });
}

/**
 * Shows a part of the view, or the next one. After the last part it scrolls the page itself, because some
 * pages then load more.
 */
async function scroll(tab: Tab, part: number | undefined): Promise<void> {
  await tab.look();
  if (part !== undefined) {
    if (part > tab.count) throw new Mistake(`there is no part ${part}: the page has ${tab.count}`);
    tab.position = part - 1;
    return;
  }
  if (tab.position + 1 < tab.count) tab.position++;
  else {
    const before = tab.count;
    await tab.page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)");
    await tab.settle();
    await tab.look();
    if (tab.count > before) tab.position++;
  }
}

function found(tab: Tab, text: string, characters: number): string {
  const hits = tab.find(text);
  if (hits.length === 0) return `${JSON.stringify(text)} is not on the page.`;
  const told: string[] = [];
  let size = 0;
  for (const { line, part } of hits) {
    const one = tab.count > 1 ? `part ${part}: ${line}` : line;
    size += one.length + 1;
    if (size > characters && told.length > 0) break;
    told.push(one.slice(0, characters));
  }
  const more = hits.length - told.length;
  return [...told, ...(more > 0 ? [`(${more} more)`] : [])].join("\n");
}

function screenshot(tab: Tab): Promise<Buffer> {
  return tab.page.screenshot({ type: "png", animations: "disabled", caret: "hide" });
}
