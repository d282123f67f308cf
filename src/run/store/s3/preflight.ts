import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { newAttempt } from "../../../base/files/temporary-name.ts";
import { refusal } from "./failures.ts";
import { type S3Objects, s3Objects } from "./objects.ts";
import { type S3Place, s3Address } from "./place.ts";

/** Writers that race for one object. */
const racers = 8;

/**
 * Proves that a place can hold a store: that it can be read, written and listed, and that of writers that race for
 * an object exactly one wins, and none afterwards. It leaves nothing. Throws STORE_REFUSED,
 * STORE_WITHOUT_CONDITIONS, STORE_NOT_READABLE and STORE_NOT_WRITABLE.
 */
export async function checkS3Place(place: S3Place): Promise<void> {
  const store = s3Address(place);
  const objects = s3Objects(place);
  const path = `preflight/${newAttempt()}`;
  try {
    await objects.page("preflight/");
    if ((await objects.get(path)) !== undefined)
      throw unsupported(store, "an object that nobody wrote is there");
    try {
      await checkConditions(store, objects, path);
    } finally {
      await objects.remove(path);
    }
  } catch (error) {
    throw refusal(store, error);
  }
}

async function checkConditions(store: string, objects: S3Objects, path: string): Promise<void> {
  const contents = Array.from({ length: racers }, (_, racer) => Buffer.from(`racer ${racer}`));
  const isFirst = await Promise.all(contents.map((content) => objects.put(path, content, { flush: true })));
  const winners = contents.filter((_, racer) => isFirst[racer]);
  const standing = await objects.get(path);
  const isLate = await objects.put(path, Buffer.from("late"), { flush: true });
  const isKept =
    standing !== undefined && Buffer.compare(standing, (await objects.get(path)) ?? Buffer.of()) === 0;
  if (winners.length > 1)
    throw unsupported(store, `${winners.length} of ${racers} simultaneous writers of one object succeeded`);
  if (isLate || !isKept) throw unsupported(store, "a second write of an object replaced the first");
  // An answer that was lost and repeated makes a winner look like a loser.
  const [winner] = winners;
  if (winner !== undefined && Buffer.compare(winner, standing) !== 0)
    throw unsupported(store, "an object is not what its only successful writer wrote");
}

function unsupported(store: string, reason: string): EverturnError {
  return new EverturnError("STORE_WITHOUT_CONDITIONS", { store, reason });
}
