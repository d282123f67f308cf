import type { IncomingMessage } from "node:http";
import { HttpProblem } from "./http-problem.ts";
import { targetOf } from "./request-target.ts";

/**
 * Rejects requests that other sites' pages make through a browser. It recognizes them by their origin, by the
 * browser's fetch metadata, and by a host name that resolves to this machine. Throws HttpProblem.
 */
export function checkOrigin(request: IncomingMessage, bound: string): void {
  const { origin, "sec-fetch-site": site } = request.headers;
  if (origin !== undefined && !isLoopbackUrl(origin))
    throw new HttpProblem(403, `pages of ${origin} may not ask this server`);
  if (site !== undefined && site !== "same-origin" && site !== "none")
    throw new HttpProblem(403, "pages of other sites may not ask this server: open its address by itself");
  checkHost(request, bound);
}

/** Rejects requests for other host names, which someone may have pointed to this machine. Throws HttpProblem. */
export function checkHost(request: IncomingMessage, bound: string): void {
  const { host } = request.headers;
  const names = [targetOf(request).href, ...(host === undefined ? [] : [`http://${host}`])];
  const other = names.find((name) => !isLoopbackUrl(name));
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

/** Whether a URL or an origin belongs to this machine. */
export function isLoopbackUrl(url: string): boolean {
  return isLoopback(hostOf(url));
}

/** Whether a host is a loopback address, which no other machine reaches. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d+){3}$/.test(host);
}
