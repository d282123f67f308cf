import { hash } from "node:crypto";
import type { Segment } from "../../contracts/generated/segment.ts";
import type { SegmentRef } from "../../contracts/trajectory.ts";

/** A segment's name: the SHA-256 of its content, which includes the name of the one before it. */
export function segmentRef(segment: Segment): SegmentRef {
  return hash("sha256", JSON.stringify(segment));
}
