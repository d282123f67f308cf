import type { IncomingMessage } from "node:http";
import { HttpProblem } from "./http-problem.ts";
import { targetOf } from "./request-target.ts";

/**
 * Refuses the requests that pages of other sites have a browser make: they are known by their origin, by what the browser says of
 * their site, and by a name that resolves to this machine. Throws HttpProblem.
 */
export function checkOrigin(request: IncomingMessage, bound: string): void {
  const { origin, "sec-fetch-site": site } = request.headers;
  if (origin !== undefined && !isLoopback(hostOf(origin)))
    throw new HttpProblem(403, `pages of ${origin} may not ask this server`);
  if (site !== undefined && site !== "same-origin" && site !== "none")
    throw new HttpProblem(403, "pages of other sites may not ask this server: open its address by itself");
  checkHost(request, bound);
}

/** Refuses requests for another host's name, which may have been made to resolve to this machine. Throws HttpProblem. */
export function checkHost(request: IncomingMessage, bound: string): void {
  const { host } = request.headers;
  const names = [targetOf(request).href, ...(host === undefined ? [] : [`http://${host}`])];
  const other = names.find((name) => !isLoopback(hostOf(name)));
  if (isLoopback(bound) && other !== undefined)
    throw new HttpProblem(403, `this server is not ${hostOf(other)}: it listens on ${bound} alone`);
}

function hostOf(url: string): string {
  try {
    return new URL(url).hostname.replace(/^\[|\]$/g, "");
  } catch {
    return "";
  }
}

/** Whether a host is this machine's own address, which no other machine reaches. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d+){3}$/.test(host);
}
