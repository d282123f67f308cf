// The servers follow the rules that SkyRL 0.4.0, TuFT 0.2.2 and hatchery-core 0.3.0 publish in their sources
// (tests/support/tinker-server.ts). No published server runs.
import { setTimeout as sleep } from "node:timers/promises";
import { EverturnError } from "everturn/engine";
import { expect, test } from "vitest";
import type { ServedName } from "../../../support/served-arithmetic.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { type StartedServer, tinkerAttempts, updates } from "../../../support/tinker-attempts.ts";

const { started, attempt } = await tinkerAttempts(temporaryFolder());

/** Milliseconds in which the small server has executed what it accepted. */
const effect = 20;

const cases = (["skyrl-jax", "tuft", "hatchery"] as const).flatMap((name) =>
  (["before", "after"] as const).map((moment) => ({ name, moment })),
);

test.each(cases)(
  "$name restarts $moment each call of a step: no update is lost, none happens twice",
  async ({ name, moment }) => {
    const undisturbed = await started(name, undefined, { stores: "disk" });
    await attempt(undisturbed, "first");
    await attempt(undisturbed, "second", "first");
    const expected = undisturbed.saved("second");
    expect(expected.state?.steps).toBe(2 * updates);

    const seen: string[] = [];
    for (let at = 0; ; at++) {
      const { call, failures, on } = await restartedAt(name, moment, at);
      if (call === undefined) break; // the step has no more calls
      seen.push(call);
      const { history, state } = on.saved("repeated");
      expect({ call, failures, state }).toEqual({ call, failures, state: expected.state });
      expect(history.length, `updates along the chain, with a restart at ${call}`).toBe(
        expected.history.length,
      );
      expect(failures, call).toBeLessThanOrEqual(1);
    }
    for (const path of ["create_model", "load_weights", "optim_step", "save_weights", "retrieve_future"]) {
      expect(seen).toContain(path);
    }
  },
);

/** Makes two steps. The server restarts at one call of the second step's first attempt, counted after the probe. */
async function restartedAt(name: ServedName, moment: "before" | "after", at: number) {
  let restarted: Promise<void> | undefined;
  let call: string | undefined;
  let calls = Number.NEGATIVE_INFINITY; // none counts before the probe's model is released
  let isSecond = false;
  const on: StartedServer = await started(
    name,
    ({ path }) => {
      if (path === "unload_model" && isSecond) calls = Math.max(calls, -1);
      if (path === "session_heartbeat" || calls++ !== at) return undefined;
      call = path;
      restarted = sleep(moment === "before" ? 0 : effect).then(() => on.server.restart());
      return moment;
    },
    { stores: "disk" },
  );
  await attempt(on, "first");
  isSecond = true;
  let failures = 0;
  for (;;) {
    try {
      await attempt(on, "repeated", "first");
      await restarted;
      return { call, failures, on };
    } catch (error) {
      await restarted;
      if (!(error instanceof EverturnError) || error.code !== "TINKER_MODEL_LOST") throw error;
      failures++;
    }
  }
}
