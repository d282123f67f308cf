import { createHash } from "node:crypto";
import { type Html, html } from "../../results/report/html.ts";

/** A part of a page that reloads itself every `seconds` while the page is open. */
export function livePart(path: string, content: Html, seconds = 2): Html {
  const again = `${path}${path.includes("?") ? "&" : "?"}seen=${digestOf(content)}`;
  return html`<div hx-get="${again}" hx-trigger="every ${seconds}s" hx-swap="outerHTML">${content}</div>`;
}

/** Whether the page already shows this content. Then nothing is sent, and typed or selected text stays. */
export function isSeen(content: Html, seen: string | undefined): boolean {
  return seen === digestOf(content);
}

function digestOf({ html: text }: Html): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
