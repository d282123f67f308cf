import { type JsonObject, type JsonValue, readText } from "everturn/plugin";

/** A recorded response. */
export interface Recorded {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** Recorded pages. */
export interface Archive {
  /** When the first page was recorded. */
  time: Date;
  /**
   * Returns the response to a request, and its URL after redirects. Undefined if it was not recorded. Throws
   * if the redirects form a loop.
   */
  answer(method: string, url: string, body: string | null): { url: string; recorded: Recorded } | undefined;
}

interface Entry {
  body: string | undefined;
  recorded: Recorded;
  redirect: string | undefined;
}

const redirects = 20;

/** Headers about the transfer of the bytes, which are stored decoded. */
const ofTransport =
  /^(:.*|content-encoding|content-length|transfer-encoding|connection|keep-alive|alt-svc)$/i;

/** Reads a HAR file (1.2) that includes contents. Throws, with the file's path, if it is invalid. */
export function readArchive(path: string): Archive {
  const entries = new Map<string, Entry[]>();
  let first = Number.POSITIVE_INFINITY;
  for (const [index, value] of entriesOf(path).entries()) {
    const { request, response, startedDateTime } = object(value);
    const { method, url, postData } = object(request);
    if (typeof method !== "string" || typeof url !== "string" || !URL.canParse(url))
      throw new Error(`${path}: entry ${index + 1} has no method and URL of a request`);
    if (Number(object(response).status) < 100) continue; // a request without a response
    const { text, encoding, _file } = object(object(response).content);
    if (_file !== undefined)
      throw new Error(
        `${path}: entry ${index + 1} has its content in another file: record with the contents in it (Playwright: content: "embed")`,
      );
    const key = keyOf(method, url);
    const sent = object(postData).text;
    const headers = headersOf(object(response).headers);
    const body = Buffer.from(String(text ?? ""), encoding === "base64" ? "base64" : "utf8");
    const status = Number(object(response).status);
    const location = status >= 300 && status < 400 ? headers.location : undefined;
    const entry: Entry = {
      body: typeof sent === "string" ? sent : undefined,
      recorded: { status, headers, body },
      redirect:
        location !== undefined && URL.canParse(location, url) ? new URL(location, url).href : undefined,
    };
    entries.set(key, [...(entries.get(key) ?? []), entry]);
    const at = Date.parse(String(startedDateTime));
    if (at < first) first = at;
  }

  function answer(method: string, url: string, body: string | null): ReturnType<Archive["answer"]> {
    let [how, at, sent] = [method, url, body];
    for (let count = 0; count <= redirects; count++) {
      const same = entries.get(keyOf(how, at)) ?? [];
      const entry = sent === null ? same[0] : same.find((one) => one.body === sent);
      if (entry === undefined) return undefined;
      const { redirect, recorded } = entry;
      if (redirect === undefined) return { url: at, recorded };
      if (recorded.status < 307) [how, sent] = [how === "HEAD" ? "HEAD" : "GET", null];
      at = redirect;
    }
    throw new Error(`${url} redirects more than ${redirects} times`);
  }

  return { time: new Date(Number.isFinite(first) ? first : 0), answer };
}

function entriesOf(path: string): JsonValue[] {
  const text = readText(path);
  let entries: JsonValue | undefined;
  try {
    const whole: JsonValue = JSON.parse(text);
    entries = object(object(whole).log).entries;
  } catch (error) {
    throw new Error(`${path} is not a HAR file: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
  if (!Array.isArray(entries)) throw new Error(`${path} is not a HAR file: it has no log.entries`);
  return entries;
}

function keyOf(method: string, url: string): string {
  const address = new URL(url);
  address.hash = "";
  return `${method.toUpperCase()} ${address.href}`;
}

function headersOf(value: JsonValue | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const header of Array.isArray(value) ? value : []) {
    const name = String(object(header).name).toLowerCase();
    const text = String(object(header).value);
    if (ofTransport.test(name)) continue;
    headers[name] =
      headers[name] === undefined ? text : `${headers[name]}${name === "set-cookie" ? "\n" : ", "}${text}`;
  }
  return headers;
}

function object(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
