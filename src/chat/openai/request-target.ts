import type { IncomingMessage } from "node:http";
import { HttpProblem } from "./http-problem.ts";

/** What a request is for: /path?query, or a whole URL, as proxies write it. Throws HttpProblem where it is neither. */
export function targetOf({ url = "/" }: IncomingMessage): URL {
  const whole = url.startsWith("/") ? `http://localhost${url}` : url;
  if (URL.canParse(whole)) return new URL(whole);
  throw new HttpProblem(400, "the request's target is not a path");
}
