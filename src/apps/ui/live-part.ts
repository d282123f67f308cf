import { createHash } from "node:crypto";
import { type Html, html } from "../../results/report/html.ts";
import { withQuery } from "./paths.ts";

/** A part of a page that asks for itself again every `seconds`, as long as the page is open. */
export function livePart(path: string, content: Html, seconds = 2): Html {
  const again = withQuery(path, { seen: digestOf(content) });
  return html`<div hx-get="${again}" hx-trigger="every ${seconds}s" hx-swap="outerHTML">${content}</div>`;
}

/** Whether the page shows this content already: then nothing is sent, and what was typed or selected in it stays. */
export function isSeen(content: Html, seen: string | undefined): boolean {
  return seen === digestOf(content);
}

function digestOf({ html: text }: Html): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
