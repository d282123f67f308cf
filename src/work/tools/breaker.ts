import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import type { HostSettings } from "../../contracts/plan.ts";
import type { ToolHostChange } from "../../contracts/tool-host-change.ts";

/** Whether a caller passed as one of many, or as the probe whose success ends a pause. */
export type Pass = "call" | "probe";

/**
 * A circuit breaker. After `failures` in a row, the host is paused and callers wait. After the pause one
 * probe passes: the plugin's own, or one waiting call. If the probe succeeds, all callers continue. If it
 * fails, the next pause is twice as long. After `patience` all waiting callers fail, and the host is down: later
 * callers wait for the next probe, and fail if it does (Nygard, Release It!, 2nd ed., 2018, ch. 5).
 */
export interface Breaker {
  /** Waits while the host is paused. Throws TOOL_HOST_DOWN, or the signal's reason. */
  enter(signal: AbortSignal): Promise<Pass>;
  isPaused(): boolean;
  succeeded(): void;
  /** Throws TOOL_HOST_DOWN if the caller was the probe of a host that is down. */
  failed(reason: string, pass: Pass): void;
  /** Reports that a caller left without learning anything about the host. */
  left(pass: Pass): void;
  /** Sets the plugin's probe, if it has one. Only the first one set is used. */
  probeWith(probe: () => Promise<void>): void;
  /** Clears all timers. Waiting callers stay where they are. */
  close(): void;
}

interface Pause {
  since: number;
  length: number;
  /** The pause is over, and no caller probes yet. */
  isRipe: boolean;
  isDown: boolean;
  reason: string;
}

interface Waiter {
  pass(as: Pass): void;
  fail(error: EverturnError): void;
}

/** Creates a breaker for `host`. Calls `onChange` once for each change. */
export function createBreaker(
  host: string,
  settings: HostSettings,
  onChange: (change: ToolHostChange) => void,
): Breaker {
  let failures = 0;
  let pause: Pause | undefined;
  let probe: (() => Promise<void>) | undefined;
  let ripening: NodeJS.Timeout | undefined;
  let losingPatience: NodeJS.Timeout | undefined;
  const line = new Set<Waiter>();

  function change(state: ToolHostChange["state"], { since, reason }: Pause): void {
    onChange({ host, state, reason, seconds: (Date.now() - since) / 1000 });
  }

  function start(reason: string): void {
    pause = { since: Date.now(), length: settings.pause, isRipe: false, isDown: false, reason };
    change("paused", pause);
    ripening = setTimeout(ripen, pause.length);
    losingPatience = setTimeout(giveUp, settings.patience);
  }

  function ripen(): void {
    if (pause === undefined) return;
    if (probe !== undefined) {
      probe().then(resume, (error) => lengthen(messageOf(error)));
      return;
    }
    pause.isRipe = true;
    const [first] = line;
    if (first === undefined) return;
    pause.isRipe = false;
    first.pass("probe");
  }

  function lengthen(reason: string): void {
    if (pause === undefined) return;
    pause.reason = reason;
    if (pause.isDown) failWaiting(pause);
    pause.length = Math.min(pause.length * 2, settings.longestPause);
    ripening = setTimeout(ripen, pause.length);
  }

  function resume(): void {
    failures = 0;
    if (pause === undefined) return;
    const over = { ...pause, reason: "" };
    pause = undefined;
    close();
    change("resumed", over);
    for (const waiter of line) waiter.pass("call");
  }

  function giveUp(): void {
    if (pause === undefined) return;
    pause.isDown = true;
    change("down", pause);
    failWaiting(pause);
  }

  function failWaiting(paused: Pause): void {
    for (const waiter of line) waiter.fail(down(paused));
  }

  function down({ reason }: Pause): EverturnError {
    const seconds = Math.round(settings.patience / 1000);
    return new EverturnError("TOOL_HOST_DOWN", { host, seconds, reason });
  }

  function close(): void {
    clearTimeout(ripening);
    clearTimeout(losingPatience);
  }

  return {
    isPaused: () => pause !== undefined,
    enter: async (signal) => {
      signal.throwIfAborted();
      if (pause === undefined) return "call";
      if (pause.isRipe) {
        pause.isRipe = false;
        return "probe";
      }
      return wait(line, signal);
    },
    succeeded: resume,
    failed: (reason, pass) => {
      if (pass === "probe") {
        lengthen(reason);
        if (pause?.isDown) throw down(pause);
      } else if (pause === undefined && ++failures >= settings.failures) start(reason);
    },
    left: (pass) => {
      if (pass === "probe") ripen();
    },
    probeWith: (given) => {
      probe ??= given;
    },
    close,
  };
}

function wait(line: Set<Waiter>, signal: AbortSignal): Promise<Pass> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      line.delete(waiter);
      signal.removeEventListener("abort", abort);
    };
    const abort = () => {
      leave();
      reject(signal.reason);
    };
    const waiter: Waiter = {
      pass: (as) => {
        leave();
        resolve(as);
      },
      fail: (error) => {
        leave();
        reject(error);
      },
    };
    line.add(waiter);
    signal.addEventListener("abort", abort);
  });
}
