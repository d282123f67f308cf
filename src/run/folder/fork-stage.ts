import { newAttempt } from "../../base/files/temporary-name.ts";
import { forkKey } from "../store/keys.ts";
import type { Store } from "../store/store.ts";

/** Takes the next free stage for forks: `fork-0001` and so on. The first writer of its record has it. */
export async function takeForkStage(store: Pick<Store, "read" | "record">): Promise<string> {
  const by = newAttempt();
  for (let number = 1; ; number++) {
    const key = forkKey(number);
    if ((await store.read(key)) !== undefined) continue;
    const taken = await store.record(key, { by });
    if (taken.by === by) return `fork-${String(number).padStart(4, "0")}`;
  }
}
