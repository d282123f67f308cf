import type { BrowserContext, Route } from "playwright-core";
import type { Archive } from "./archive.ts";

/** The title of a page generated in place of one that was not recorded. */
export const missingTitle = "Not in the archive";

/** Answers a context's requests only from an archive. Time stands still, and random numbers repeat. */
export async function serveRecorded(context: BrowserContext, archive: Archive): Promise<void> {
  await context.clock.setFixedTime(archive.time);
  await context.addInitScript(sameChance);
  await context.route("**/*", (route) => answer(route, archive).catch(() => {})); // its page may be gone by now
}

async function answer(route: Route, archive: Archive): Promise<void> {
  const request = route.request();
  const url = request.url();
  const isPage = request.isNavigationRequest();
  let found: ReturnType<Archive["answer"]>;
  try {
    found = archive.answer(request.method(), url, request.postData());
  } catch (error) {
    if (!isPage) return route.abort("failed");
    return madePage(
      route,
      508,
      "Redirects without end",
      error instanceof Error ? error.message : String(error),
    );
  }
  if (found === undefined) {
    if (!isPage) return route.abort("failed");
    return madePage(route, 404, missingTitle, `${url} is not in the archive of recorded pages.`);
  }
  // A redirect that the browser follows itself would not pass through here.
  const { hash } = new URL(url);
  if (isPage && found.url !== url.slice(0, url.length - hash.length))
    return route.fulfill({
      contentType: "text/html",
      body: `<script>location.replace(${inScript(found.url)})</script>`,
    });
  const { status, headers, body } = found.recorded;
  return route.fulfill({ status, headers, body });
}

function madePage(route: Route, status: number, title: string, text: string): Promise<void> {
  const body = `<!doctype html><title>${title}</title><h1>${title}</h1><p>${inHtml(text)}</p>`;
  return route.fulfill({ status, contentType: "text/html; charset=utf-8", body });
}

function inHtml(text: string): string {
  return text.replace(/[&<]/g, (sign) => (sign === "&" ? "&amp;" : "&lt;"));
}

function inScript(text: string): string {
  return JSON.stringify(text).replaceAll("<", "\\u003c");
}

/** Replaces the page's sources of random numbers with mulberry32 (Tommy Ettinger, public domain). */
const sameChance = `{
  let state = 1;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  Math.random = () => next() / 2 ** 32;
  Crypto.prototype.getRandomValues = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let index = 0; index < bytes.length; index++) bytes[index] = next();
    return array;
  };
  Crypto.prototype.randomUUID = () => {
    const hex = Array.from({ length: 32 }, () => (next() & 15).toString(16)).join("");
    return hex.slice(0, 8) + "-" + hex.slice(8, 12) + "-4" + hex.slice(13, 16) + "-8" + hex.slice(17, 20) + "-" + hex.slice(20);
  };
}`;
