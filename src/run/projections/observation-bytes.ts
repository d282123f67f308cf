import type { Call } from "../../contracts/generated/trajectory.ts";

/** The SHA-256s of all bytes that a call's observation refers to: its images, and its full text if it was cut. */
export function observationBytes({ media = [], whole }: Pick<Call, "media" | "whole">): string[] {
  const frames = media.flatMap((one) => one.frames.map(({ sha256 }) => sha256));
  return whole === undefined ? frames : [...frames, whole];
}
