// Makes the pages, the tasks and the demonstrations of pipelines/web: node scripts/make-web-example.ts && python scripts/make-tokenizer.py web
//
// A market that does not exist has a page for each stall, recorded as a HAR file. Some demonstrations guess a price, some open the page of
// the market, which has none, and the others open the stall's. What pages say is what tool-browser tells of them: a Chromium is needed.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { settingsOf } from "../plugins/tool-browser/settings.ts";
import { TrajectoryBrowser } from "../plugins/tool-browser/trajectory-browser.ts";

const folder = join(import.meta.dirname, "..", "pipelines", "web");
const site = "http://market.example";
const [stalls, heldOut] = [300, 100];
const repeated = 3; // demonstrations of each task
const [guesses, homes] = [0.35, 0.4]; // the shares of demonstrations
const questions = {
  cost: "What does a lamp of stall {} cost?",
  weigh: "What does a lamp of stall {} weigh?",
};

/** The same each time (mulberry32). */
let state = 1;
function random(below: number): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
}

function shuffled<One>(items: readonly One[]): One[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice(random(rest.length), 1));
}

type What = keyof typeof questions;
interface Asked {
  stall: number;
  what: What;
  answer: number;
}

const numbers = shuffled(Array.from({ length: 900 }, (_, index) => index + 100)).slice(0, stalls);
const market = numbers.flatMap((stall) =>
  (["cost", "weigh"] as const).map((what): Asked => ({ stall, what, answer: 11 + random(88) })),
);

const urlOf = (stall?: number) => (stall === undefined ? `${site}/` : `${site}/${stall}`);

function page(title: string, lines: readonly string[]): string {
  return `<!doctype html><html lang="en"><title>${title}</title><ul>${lines.map((line) => `<li>${line}</li>`).join("")}</ul>`;
}

function stallPage(stall: number): string {
  const own = market.filter((one) => one.stall === stall);
  return page(
    `Stall ${stall}`,
    own.map(({ what, answer }) => `Lamps ${what} ${answer}.`),
  );
}

function entry(url: string, text: string) {
  return {
    startedDateTime: "2026-11-24T09:00:00.000Z",
    time: 1,
    request: {
      method: "GET",
      url,
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: [],
      queryString: [],
      headersSize: -1,
      bodySize: -1,
    },
    response: {
      status: 200,
      statusText: "OK",
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: [{ name: "content-type", value: "text/html; charset=utf-8" }],
      content: { size: text.length, mimeType: "text/html; charset=utf-8", text },
      redirectURL: "",
      headersSize: -1,
      bodySize: -1,
    },
    cache: {},
    timings: { send: 0, wait: 1, receive: 0 },
  };
}

const archive = join(folder, "pages.har");
mkdirSync(folder, { recursive: true });
const home = page("Market", ["Each stall has a page, by its number."]);
const entries = [entry(urlOf(), home), ...numbers.map((stall) => entry(urlOf(stall), stallPage(stall)))];
const log = { version: "1.2", creator: { name: "make-web-example.ts", version: "1" }, entries };
writeFileSync(archive, `${JSON.stringify({ log })}\n`);

const browsing = new TrajectoryBrowser(settingsOf({ archive, time: 60, characters: 1000 }), undefined);
const views = new Map<string, string>();
for (const url of [urlOf(), ...numbers.map(urlOf)]) {
  const { text = "" } = await browsing.call(
    { name: "open", arguments: { url } },
    new AbortController().signal,
  );
  views.set(url, text);
}
await browsing.close();

const asked = ({ stall, what }: Asked) => ({
  role: "user",
  content: questions[what].replace("{}", String(stall)),
});
const said = (number: number) => ({ role: "assistant", content: `Answer: ${number}` });

function task(one: Asked): object {
  return { data_source: "market", prompt: [asked(one)], reward_model: { ground_truth: String(one.answer) } };
}

function demonstration(one: Asked) {
  const how = random(1_000_000) / 1_000_000;
  const wrong = said(11 + random(88));
  if (how < guesses) return { messages: [asked(one), wrong] };
  const isHome = how < guesses + homes;
  const url = urlOf(isHome ? undefined : one.stall);
  const call = { type: "function", function: { name: "open", arguments: { url } } };
  const seen = { role: "tool", content: views.get(url) };
  const messages = [asked(one), { role: "assistant", content: "", tool_calls: [call] }, seen];
  return { messages: [...messages, isHome ? wrong : said(one.answer)] };
}

function write(name: string, rows: readonly object[]): void {
  writeFileSync(join(folder, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

const all = shuffled(market);
const training = all.slice(heldOut);
write("train.jsonl", training.map(task));
write("held-out.jsonl", all.slice(0, heldOut).map(task));
write(
  "demonstrations.jsonl",
  shuffled(Array.from({ length: repeated }, () => training).flat()).map(demonstration),
);
process.exit(); // the browser is shared with whoever else would open one here
