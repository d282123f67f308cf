import type { IncomingMessage } from "node:http";
import { HttpProblem } from "./http-problem.ts";

/** The target of a request: /path?query, or a whole URL, which proxies send. Throws HttpProblem if it is neither. */
export function targetOf({ url = "/" }: IncomingMessage): URL {
  const whole = url.startsWith("/") ? `http://localhost${url}` : url;
  if (URL.canParse(whole)) return new URL(whole);
  throw new HttpProblem(400, "the request's target is not a path");
}
