import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { displayPath } from "../../../base/validation/place.ts";
import type { TrajectoryDetail } from "../../../run/projections/trajectory-detail.ts";
import type { Store } from "../../../run/store/store.ts";
import { mediaNames } from "../views/trajectory-text.ts";

type Bytes = Pick<Store, "readBytes">;

/** A trajectory with its observations as the tools answered them, uncut. Throws RECORD_CORRUPT. */
export async function withWholeObservations(
  store: Bytes,
  detail: TrajectoryDetail,
): Promise<TrajectoryDetail> {
  const turns = detail.turns.map(async (turn) => {
    const toolCalls = turn.toolCalls.map(async ({ whole, ...call }) =>
      whole === undefined ? call : { ...call, observation: String(await readBytes(store, whole)) },
    );
    return { ...turn, toolCalls: await Promise.all(toolCalls) };
  });
  return { ...detail, turns: await Promise.all(turns) };
}

/**
 * Writes the images of a trajectory's observations into a folder, and prints the path of each. Throws
 * RECORD_CORRUPT.
 */
export async function writeMedia(
  store: Bytes,
  { turns }: Pick<TrajectoryDetail, "turns">,
  folder: string,
): Promise<string[]> {
  const target = resolve(folder);
  mkdirSync(target, { recursive: true });
  const written: string[] = [];
  for (const [turn, { toolCalls }] of turns.entries()) {
    for (const [call, recorded] of toolCalls.entries()) {
      for (const { name, frame } of mediaNames(recorded)) {
        const kind = frame.mediaType.replace(/^image\//, "").replace(/\+xml$/, "");
        const file = join(target, `turn-${turn + 1}-call-${call}-${name}.${kind}`);
        writeFileSync(file, await readBytes(store, frame.sha256));
        written.push(displayPath(file));
      }
    }
  }
  return written;
}

async function readBytes(store: Bytes, sha256: string): Promise<Buffer> {
  const bytes = await store.readBytes(sha256);
  if (bytes !== undefined) return Buffer.from(bytes);
  const file = `bytes/${sha256.slice(0, 2)}/${sha256}.bin`;
  throw new EverturnError("RECORD_CORRUPT", { file, reason: "it is gone, or its content was changed" });
}
