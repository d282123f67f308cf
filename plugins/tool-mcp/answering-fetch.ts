type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The SDK's code for `ConnectionClosed`. */
const closed = -32_000;

/**
 * Returns a `fetch` for the SDK's streamable HTTP transport under which each request gets an answer. The SDK
 * keeps waiting if a stream of events ends, breaks or can't be resumed, or if the answer is not valid. Here
 * the request then gets an error as its answer.
 */
export function answeringFetch(): Fetch {
  /** Requests whose stream ended before their answer, by the id of the last event. They may be resumed. */
  const suspended = new Map<string, unknown>();

  /** Adds an error at the end of a stream that has no answer to the request with this id. */
  function answering(stream: ReadableStream<Uint8Array>, id: unknown): ReadableStream<Uint8Array> {
    const readEvents = eventReader();
    const decoder = new TextDecoder();
    let lastEventId = "";
    /** Whether a chunk contains the answer. A text describes a problem. */
    const found = (chunk: string): boolean | string => {
      for (const event of readEvents(chunk)) {
        lastEventId = event.id || lastEventId;
        if (event.data === "" || (event.type !== "" && event.type !== "message")) continue;
        const message = parsed(event.data);
        if (message === undefined || Object(message).jsonrpc !== "2.0")
          return "an event of the stream is not a message of the protocol";
        if (isAnswerTo(message, id)) return true;
      }
      return false;
    };
    async function* withAnswer(): AsyncGenerator<Uint8Array, void> {
      let isAnswered = false;
      let wrong = "the stream of events ended without an answer";
      try {
        for await (const chunk of stream) {
          const now: boolean | string = isAnswered || found(decoder.decode(chunk, { stream: true }));
          if (typeof now === "string") {
            yield errorEvent(id, now);
            return;
          }
          isAnswered = now;
          yield chunk;
        }
      } catch (error) {
        wrong = `the stream of events broke without an answer: ${error}`;
      }
      if (isAnswered) return;
      if (lastEventId === "") yield errorEvent(id, wrong);
      else suspended.set(lastEventId, id);
    }
    return ReadableStream.from(withAnswer());
  }

  async function resumed(url: string | URL, init: RequestInit, last: string): Promise<Response> {
    const id = suspended.get(last);
    suspended.delete(last);
    const failed = (reason: string) =>
      events(new Response(errorEvent(id, `the stream did not resume: ${reason}`)));
    try {
      const response = await fetch(url, init);
      if (!response.ok || response.body === null) return failed(`the server answered ${response.status}`);
      return events(new Response(answering(response.body, id)));
    } catch (error) {
      if (init.signal?.aborted) throw error;
      return failed(String(error));
    }
  }

  return async (url, init = {}) => {
    const last = new Headers(init.headers).get("last-event-id");
    if (last !== null && suspended.has(last)) return resumed(url, init, last);
    const response = await fetch(url, init);
    const id = requestId(init);
    if (id === undefined || !response.ok) return response;
    if (response.status === 202) throw new Error("the server answered 202, and so no call");
    const { body, status, headers } = response;
    const type = headers.get("content-type") ?? "";
    if (/^text\/event-stream\b/i.test(type) && body !== null)
      return new Response(answering(body, id), { status, headers });
    if (!/^application\/json\b/i.test(type)) return response;
    const text = await response.text();
    const messages = [parsed(text) ?? {}].flat();
    if (parsed(text) !== undefined && !messages.some((message) => isAnswerTo(message, id)))
      throw new Error(`the answer is to another request: ${text.slice(0, 200)}`);
    return new Response(text, { status, headers });
  };
}

function events(response: Response): Response {
  response.headers.set("content-type", "text/event-stream");
  return response;
}

/** An error as the answer to a request. It starts a new event after any incomplete one. */
function errorEvent(id: unknown, message: string): Uint8Array {
  const answer = { jsonrpc: "2.0", id, error: { code: closed, message } };
  return new TextEncoder().encode(`\n\nevent: message\ndata: ${JSON.stringify(answer)}\n\n`);
}

/** The id of the request that is sent. Undefined for messages without an answer. */
function requestId({ method, body }: RequestInit): unknown {
  if (method !== "POST" || typeof body !== "string") return undefined;
  const { method: asked, id } = Object(JSON.parse(body));
  return asked === undefined ? undefined : id;
}

function isAnswerTo(message: object, id: unknown): boolean {
  return "id" in message && message.id === id && ("result" in message || "error" in message);
}

/** A message or a list of messages. Undefined if the text is neither. */
function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

interface Event {
  type: string;
  data: string;
  id: string;
}

/** Returns a function that takes chunks and returns each event once it is complete. */
function eventReader(): (chunk: string) => Event[] {
  let rest = "";
  let event: Event = { type: "", data: "", id: "" };
  return (chunk) => {
    const whole: Event[] = [];
    const lines = (rest + chunk).split(/\r\n|\n|\r(?=[\s\S])/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [, field = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (line === "") {
        whole.push(event);
        event = { type: "", data: "", id: "" };
      } else if (field === "data") event.data += event.data === "" ? value : `\n${value}`;
      else if (field === "event") event.type = value;
      else if (field === "id") event.id = value;
    }
    return whole;
  };
}
