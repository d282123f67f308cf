import type { JsonObject } from "everturn/plugin";
import type { TalkMessage } from "./talk.ts";

/** The maximum bytes of an answer. */
const longest = 1024 * 1024;

/**
 * Returns the next words of the user's model. Throws the errors of `fetch`, and an error if the answer is an
 * error or empty.
 */
export async function nextWords(
  messages: readonly TalkMessage[],
  { url, model, key, temperature, seed, maxTokens }: JsonObject,
  signal: AbortSignal,
): Promise<string> {
  const response = await fetch(`${String(url).replace(/\/+$/, "")}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...authorization(key) },
    body: JSON.stringify({ model, messages, temperature, seed, max_tokens: maxTokens }),
    signal,
  });
  const text = (await response.text()).slice(0, longest);
  if (!response.ok) throw new Error(`the user's model answered ${response.status}: ${text.slice(0, 200)}`);
  const content = contentOf(text);
  if (content === undefined) throw new Error(`the user's model said nothing: ${text.slice(0, 200)}`);
  return content;
}

/** The content without the reasoning before it. Undefined if it is empty. */
function contentOf(text: string): string | undefined {
  try {
    const { content } = Object(Object(JSON.parse(text))?.choices?.[0]?.message);
    if (typeof content !== "string") return undefined;
    const words = content.replace(/^[\s\S]*<\/think>/, "").trim();
    return words === "" ? undefined : words;
  } catch {
    return undefined;
  }
}

function authorization(name: unknown): { authorization?: string } {
  if (typeof name !== "string") return {};
  const key = process.env[name];
  if (key === undefined || key === "") throw new Error(`the worker has no environment variable ${name}`);
  return { authorization: `Bearer ${key}` };
}
