import type { IncomingMessage } from "node:http";
import { HttpProblem } from "./http-problem.ts";

/** A page in a browser may ask any server of its machine; it is known by its origin, and by a name that resolves to here. */
export function checkOrigin({ headers }: IncomingMessage, bound: string): void {
  const { origin, host } = headers;
  if (origin !== undefined && !isLoopback(hostOf(origin)))
    throw new HttpProblem(403, `pages of ${origin} may not ask this server`);
  if (isLoopback(bound) && host !== undefined && !isLoopback(hostOf(`http://${host}`)))
    throw new HttpProblem(403, `this server is not ${host}: it listens on ${bound} alone`);
}

function hostOf(url: string): string {
  try {
    return new URL(url).hostname.replace(/^\[|\]$/g, "");
  } catch {
    return "";
  }
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d+){3}$/.test(host);
}
