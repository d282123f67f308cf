import satisfies from "semver/functions/satisfies.js";

/**
 * Whether a version matches an npm version range. A prerelease is older than its release: 0.4.0-rc.1 matches
 * <0.4.0, but not ^0.4.0.
 */
export function inRange(version: string, range: string): boolean {
  return satisfies(version, range, { includePrerelease: true });
}
