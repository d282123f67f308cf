import type { JsonObject, ToolPlugin } from "everturn/plugin";
import type { Found } from "./corpus.ts";
import { type Search, searchCorpus } from "./embedded.ts";
import type { CorpusSource } from "./open-corpus.ts";
import { searchServer } from "./remote.ts";
import { searchWeb } from "./web-search.ts";

/** The open searches by their source. Each corpus is indexed and opened once. */
const searches = new Map<string, Search>();

/** Finds passages for the model's query. An empty result is an answer, too. */
const search: ToolPlugin = {
  async execute({ query }, { config, signal }) {
    const text = String(query).trim();
    if (text === "") return { text: "error: the query is empty.", error: true };
    const found = await searchOf(config)(text, Number(config.topk ?? 3), signal);
    if (found.length === 0) return { text: "No passages were found. Try other words." };
    return { text: told(found, Number(config.characters ?? 4000)), metrics: { passages: found.length } };
  },
};

export default search;

function searchOf({ corpus, url, embedding, web }: JsonObject): Search {
  if ((typeof corpus === "string") === (typeof url === "string"))
    throw new Error("tool-search needs either “corpus”, a file or a folder, or “url”, a server's");
  const model = modelOf(embedding);
  const place = JSON.stringify([corpus, url, model, web]);
  const known = searches.get(place);
  if (known !== undefined) return known;
  const opened = typeof corpus === "string" ? searchCorpus({ corpus, ...model }) : remote(String(url), web);
  searches.set(place, opened);
  return opened;
}

function remote(url: string, web: JsonObject[string] | undefined): Search {
  const { body, answer, key }: JsonObject = objectOf(web);
  const { passages, text, title, id } = objectOf(answer);
  if (typeof passages !== "string" || typeof text !== "string") return searchServer(url);
  const { variable, header } = objectOf(key);
  return searchWeb({
    url,
    body: body === undefined ? undefined : objectOf(body),
    answer: { passages, text, title: textOf(title), id: textOf(id) },
    key: typeof variable === "string" ? { variable, header: textOf(header) } : undefined,
  });
}

function objectOf(value: JsonObject[string] | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function textOf(value: JsonObject[string] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function modelOf(embedding: JsonObject[string] | undefined): Pick<CorpusSource, "embedding"> {
  const { model, rank } = objectOf(embedding);
  if (typeof model !== "string") return {};
  return { embedding: { model, rank: rank === "dense" ? "dense" : "hybrid" } };
}

/** Formats passages as Search-R1 does. Each passage gets its share of the characters. */
function told(found: readonly Found[], characters: number): string {
  const share = Math.floor(characters / found.length);
  return found
    .map(
      ({ title, text }, index) =>
        `Doc ${index + 1}${title && ` (Title: ${title})`}: ${cut(text.trim(), share)}`,
    )
    .join("\n");
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "")}… (${text.length} characters)`;
}
