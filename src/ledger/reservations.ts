import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Reservation } from "../contracts/ledger.ts";
import { namesIn } from "../files/names-in.ts";
import { patiently } from "../files/patiently.ts";
import { readRecord, writeOnce } from "../files/whole-files.ts";
import type { RunFolder } from "../runs/run-folder.ts";

/**
 * Reserves places for trajectories, before they start. Its file is named by its content, so that an attempt that comes
 * again, or late, changes nothing. Waits where the disk is full (`patiently`).
 */
export async function reserve(folder: RunFolder, reservation: Reservation): Promise<void> {
  const content = JSON.stringify(reservation);
  const name = createHash("sha256").update(content).digest("hex").slice(0, 16);
  await patiently(() => writeOnce(join(folder.ledger, reservation.stage, `${name}.json`), content));
}

/** All reservations of a run, or of one stage, in no order; none in runs of 0.1 and 0.2. Throws RECORD_CORRUPT. */
export async function readReservations(folder: RunFolder, stage?: string): Promise<Reservation[]> {
  const stages = stage === undefined ? await namesIn(folder.ledger) : [stage];
  const files = await Promise.all(
    stages.map(async (one) => {
      const names = await namesIn(join(folder.ledger, one));
      return names.filter((name) => name.endsWith(".json")).map((name) => join(folder.ledger, one, name));
    }),
  );
  const reservations = await Promise.all(files.flat().map((file) => readRecord<Reservation>(file)));
  return reservations.filter((reservation) => reservation !== undefined);
}
