import type { Found } from "./corpus.ts";
import type { Search } from "./embedded.ts";

/**
 * Searches through a server of Search-R1's protocol, `POST …/retrieve`. Throws errors that the retry policy
 * handles.
 */
export function searchServer(url: string): Search {
  return async (query, topk, signal) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ queries: [query], topk, return_scores: true }),
      signal,
    });
    if (!response.ok)
      throw new Error(`${url} answered ${response.status}: ${(await response.text()).slice(0, 200)}`);
    const { result }: { result?: unknown } = Object(await response.json());
    const [found] = Array.isArray(result) ? result : [];
    if (!Array.isArray(found)) throw new Error(`${url} answered no “result”, a list for each query`);
    return found.slice(0, topk).map((one, index) => passageOf(one, index, url));
  };
}

/** Reads `{ document: { contents }, score }`. Without scores it is the document itself. */
function passageOf(one: unknown, index: number, url: string): Found {
  const { document = one, score = 0 } = Object(one);
  const { id = index, contents, title, text } = Object(document);
  if (typeof contents !== "string" && typeof text !== "string")
    throw new Error(`${url} answered a document without “contents”`);
  if (typeof contents !== "string")
    return { id: String(id), title: String(title ?? ""), text, score: Number(score) };
  const end = contents.indexOf("\n");
  const head = end < 0 ? "" : contents.slice(0, end).replace(/^"(.*)"$/, "$1");
  return { id: String(id), title: head, text: contents.slice(end + 1), score: Number(score) };
}
