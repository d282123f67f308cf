import type { IncomingMessage } from "node:http";
import { messageOf } from "../../base/errors/message-of.ts";
import { InexactNumberError, parseExactJson } from "../../base/json/exact-json.ts";
import { deepest, NestedTooDeepError } from "../../base/json/nesting.ts";
import { HttpProblem } from "./http-problem.ts";

/** The most bytes of a body that are read. */
const longest = 32 * 1024 * 1024;

/**
 * Reads the body of a request, at most 32 MiB, whose numbers all keep their value. The request must declare JSON or
 * have a key: for another site's page, a browser sends neither without asking the server first. `mayRound` decides
 * by the keys that lead to a number whether it may lose its value. Default: none may. Throws HttpProblem.
 */
export async function readJson(
  request: IncomingMessage,
  mayRound?: (path: readonly string[]) => boolean,
): Promise<unknown> {
  const tooLong = () => new HttpProblem(413, `the request is longer than ${longest} bytes`);
  const { authorization, "content-type": type = "", "content-length": length = 0 } = request.headers;
  if (authorization === undefined && !/^application\/(?:json|[\w.+-]+\+json)\s*(?:;|$)/i.test(type))
    throw new HttpProblem(415, "the request is not said to be JSON: send `Content-Type: application/json`");
  if (Number(length) > longest) throw tooLong();
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > longest) throw tooLong();
    parts.push(part);
  }
  return jsonIn(Buffer.concat(parts).toString("utf8"), mayRound);
}

/** Parses the text of a request's body, like `readJson`. */
export function jsonIn(text: string, mayRound?: (path: readonly string[]) => boolean): unknown {
  try {
    return parseExactJson(text, mayRound);
  } catch (error) {
    if (error instanceof InexactNumberError)
      throw new HttpProblem(400, `the request cannot be read: ${error.message}. Send it as a text`);
    if (error instanceof NestedTooDeepError)
      throw new HttpProblem(400, `the request is nested too deeply: send at most ${deepest} levels`);
    throw new HttpProblem(400, `the request is not JSON: ${messageOf(error)}`);
  }
}
