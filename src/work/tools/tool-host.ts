import type { HostSettings } from "../../contracts/plan.ts";
import type { ToolHostChange } from "../../contracts/tool-host-change.ts";
import { type Breaker, createBreaker } from "./breaker.ts";
import { callFailure } from "./call-failure.ts";
import { createRate, type Rate } from "./rate.ts";
import { createSlots, type Slots } from "./slots.ts";

/**
 * A service that tools' calls depend on. It limits the concurrency of calls and pauses them while the service
 * fails.
 */
export interface ToolHost {
  breaker: Breaker;
  /**
   * Does `work` once the host is up, the host and the tool's own `slots` have room, and both their rates
   * allow it. If the call serves as a probe and fails, it counts no attempt and keeps waiting. Throws the
   * errors of the work, TOOL_HOST_DOWN, or the signal's reason.
   */
  call<T>(work: () => Promise<T>, options: HostOptions): Promise<T>;
}

interface HostOptions {
  slots: Slots | undefined;
  rate?: Rate | undefined;
  signal: AbortSignal;
  /** Called with what the call waits for. Undefined when it no longer waits. */
  onWait: (reason: string | undefined) => void;
}

/** Creates the host `name`. */
export function createToolHost(
  name: string,
  settings: HostSettings,
  onChange: (change: ToolHostChange) => void,
): ToolHost {
  const breaker = createBreaker(name, settings, onChange);
  const own = settings.concurrency === undefined ? undefined : createSlots(settings.concurrency);
  const ownRate = settings.rate === undefined ? undefined : createRate(settings.rate);

  async function call<T>(work: () => Promise<T>, options: HostOptions): Promise<T> {
    const { slots, rate, signal, onWait } = options;
    for (;;) {
      if (breaker.isPaused()) onWait(`${name} is paused`);
      const pass = await breaker.enter(signal);
      const taken = await takeAll([slots, own], signal, onWait).catch((error: unknown) => {
        breaker.left(pass);
        throw error;
      });
      try {
        await inTime([rate, ownRate], signal, onWait);
        if (pass === "call" && breaker.isPaused()) continue; // the host was paused while this call waited
        onWait(undefined);
        const result = await work();
        breaker.succeeded();
        return result;
      } catch (error) {
        const failure = callFailure(error);
        if (failure === undefined) {
          breaker.left(pass);
          throw error;
        }
        breaker.failed(failure.reason, pass);
        if (pass === "call") throw error;
      } finally {
        for (const giveBack of taken) giveBack();
      }
    }
  }

  return { breaker, call };
}

/** Takes a slot of each, in the same order for every call, so that no two calls wait for each other. */
async function takeAll(
  limits: (Slots | undefined)[],
  signal: AbortSignal,
  onWait: HostOptions["onWait"],
): Promise<(() => void)[]> {
  const taken: (() => void)[] = [];
  try {
    for (const slots of limits) {
      if (slots?.isFull()) onWait("all slots are taken");
      if (slots !== undefined) taken.push(await slots.take(signal));
    }
    return taken;
  } catch (error) {
    for (const giveBack of taken) giveBack();
    throw error;
  }
}

/** Waits for the rates last, so that the call begins as soon as they allow it. */
async function inTime(
  rates: (Rate | undefined)[],
  signal: AbortSignal,
  onWait: HostOptions["onWait"],
): Promise<void> {
  for (const rate of rates) {
    if (rate?.isReached()) onWait("the rate is reached");
    await rate?.take(signal);
  }
}
