import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Segment } from "../contracts/generated/segment.ts";
import type { SegmentRef } from "../contracts/trajectory.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { writeOnce } from "../runs/files.ts";
import { patiently } from "../store/patiently.ts";
import { isSystemError } from "../store/system-error.ts";

/** Segments by content address. A segment names the one before it, so a ref stands for a whole trajectory. */
export interface SegmentStore {
  /** Waits where the disk is full (`patiently`). Throws DISK_FULL, STORE_NOT_WRITABLE. */
  put(segment: Segment): Promise<SegmentRef>;
  /** Throws SEGMENT_MISSING, SEGMENT_CORRUPT. */
  get(ref: SegmentRef): Promise<Segment>;
  /** All segments up to `head`, the first one first; none for null. */
  chain(head: SegmentRef | null): Promise<Segment[]>;
}

/** Tokens of the segments that stay in memory. */
const cacheTokens = 2 ** 20;

/** Opens the store in `folder`; recent segments stay in memory. */
export function openStore(folder: string): SegmentStore {
  const recent = new Map<SegmentRef, Segment>();
  let held = 0;
  const forget = (ref: SegmentRef) => {
    held -= recent.get(ref)?.tokens.length ?? 0;
    recent.delete(ref);
  };
  const remember = (ref: SegmentRef, segment: Segment) => {
    forget(ref);
    recent.set(ref, segment);
    held += segment.tokens.length;
    for (const oldest of recent.keys()) {
      if (held <= cacheTokens) return;
      forget(oldest);
    }
  };
  const pathOf = (ref: SegmentRef) => join(folder, ref.slice(0, 2), `${ref}.json`);

  async function put(segment: Segment): Promise<SegmentRef> {
    const content = JSON.stringify(segment);
    const ref = sha256(content);
    if (!recent.has(ref)) await patiently(() => writeOnce(pathOf(ref), content));
    remember(ref, segment);
    return ref;
  }

  async function get(ref: SegmentRef): Promise<Segment> {
    const known = recent.get(ref);
    if (known !== undefined) return known;
    let content: string;
    try {
      content = await readFile(pathOf(ref), "utf8");
    } catch (error) {
      if (isSystemError(error, "ENOENT")) throw new EverturnError("SEGMENT_MISSING", { ref, folder });
      throw error;
    }
    if (sha256(content) !== ref) throw new EverturnError("SEGMENT_CORRUPT", { ref, folder });
    const segment: Segment = JSON.parse(content);
    remember(ref, segment);
    return segment;
  }

  async function chain(head: SegmentRef | null): Promise<Segment[]> {
    const segments: Segment[] = [];
    for (let ref = head; ref !== null; ) {
      const segment = await get(ref);
      segments.push(segment);
      ref = segment.previous;
    }
    return segments.reverse();
  }

  return { put, get, chain };
}

function sha256(content: string): SegmentRef {
  return createHash("sha256").update(content).digest("hex");
}
