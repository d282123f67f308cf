import { hash } from "node:crypto";
import type { Segment } from "../../contracts/generated/segment.ts";
import type { SegmentRef } from "../../contracts/trajectory.ts";

/** The name of a segment: the SHA-256 of its content, which names the one before it. */
export function segmentRef(segment: Segment): SegmentRef {
  return hash("sha256", JSON.stringify(segment));
}
