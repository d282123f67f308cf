import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { HttpProblem } from "./http-problem.ts";
import { targetOf } from "./request-target.ts";

/** A random token that can't be guessed. */
export function newToken(): string {
  return randomBytes(24).toString("base64url");
}

/** Whether two secrets are equal, in a time that does not reveal where they differ. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** The key in `Authorization: Bearer KEY`. */
export function bearerOf({ headers }: IncomingMessage): string | undefined {
  return /^Bearer\s+(.*)$/i.exec(headers.authorization ?? "")?.[1]?.trim();
}

/**
 * The key of a request for the policy, in `X-API-Key: KEY` or `Authorization: Bearer KEY`. The former takes precedence,
 * for clients that write the other header themselves.
 */
export function apiKeyOf(request: IncomingMessage): string | undefined {
  const key = request.headers["x-api-key"];
  return typeof key === "string" ? key.trim() : bearerOf(request);
}

/** Rejects a request without the token in its address or a header. Throws HttpProblem. */
export function checkToken(request: IncomingMessage, token: string, cookie?: string): void {
  const given = [targetOf(request).searchParams.get("token"), bearerOf(request), cookie];
  if (given.some((one) => typeof one === "string" && isSameSecret(one, token))) return;
  throw new HttpProblem(
    401,
    "the request lacks the server's token: add ?token=… to the address, as the command printed it, or send `Authorization: Bearer …`",
  );
}
