import { defineQuery, defineSignal, defineUpdate, setHandler } from "@temporalio/workflow";
import type { JsonObject } from "../src/contracts/json.ts";
import type { SpokenMessage } from "../src/contracts/message.ts";
import type { LiveStatus, OrderName, Orders, Transcript } from "../src/contracts/orders.ts";

/** The JSON of an order, not validated. */
export type OrderArguments = Readonly<Record<string, unknown>>;

/** The effects of orders. */
export interface OrderActions {
  /** Throws if an order must be rejected, before it has any effect. */
  validate(order: OrderName, given: OrderArguments | undefined): void;
  status(): LiveStatus;
  transcript(): Transcript;
  pause(reason: string | undefined): void;
  resume(): void;
  cancel(reason: string | undefined): void;
  approve(call: string | undefined, parameters: JsonObject | undefined): void;
  answer(call: string | undefined, text: string): void;
  deny(call: string | undefined, reason: string): void;
  say(text: string, role: SpokenMessage["role"]): Promise<void>;
}

type Given<Name extends OrderName> = Parameters<Orders[Name]>;

const descriptions: Record<OrderName, string> = {
  pause: 'Stop before the next turn. {"reason": "…"} (may be left out)',
  resume: "Go on after a pause. No argument.",
  cancel: 'End the trajectory: it is left out and trains no step. {"reason": "…"} (may be left out)',
  approve:
    'Make a tool call that waits for approval, with other arguments if given. {"call": "2/0", "arguments": {…}} (both may be left out if one call waits)',
  answer:
    'Answer a call that is a question. {"call": "2/0", "text": "…"} (call may be left out if one waits)',
  deny: 'Do not make a tool call that waits for approval; the model observes the reason. {"call": "2/0", "reason": "…"}',
  say: 'Add a message before the next action. {"text": "…", "role": "user"} (role: user or system)',
};

/** Registers the trajectory workflow's updates, signals and query, with descriptions for the UI. */
export function handleOrders(actions: OrderActions): void {
  const { status } = actions;
  const options = (order: OrderName) => ({
    description: descriptions[order],
    validator: (given?: OrderArguments) => actions.validate(order, given),
  });
  const signal = (order: OrderName) => ({ description: descriptions[order] });

  setHandler(defineQuery<Transcript>("transcript"), () => actions.transcript(), {
    description: "State, turn, tokens, calls that wait for approval, and the newest turns.",
  });

  setHandler(
    defineUpdate<LiveStatus, Given<"pause">>("pause"),
    (order) => {
      actions.pause(order?.reason);
      return status();
    },
    options("pause"),
  );
  setHandler(
    defineUpdate<LiveStatus, Given<"resume">>("resume"),
    () => {
      actions.resume();
      return status();
    },
    options("resume"),
  );
  setHandler(
    defineUpdate<LiveStatus, Given<"cancel">>("cancel"),
    (order) => {
      actions.cancel(order?.reason);
      return status();
    },
    options("cancel"),
  );
  setHandler(
    defineUpdate<LiveStatus, Given<"approve">>("approve"),
    (order) => {
      actions.approve(order?.call, order?.arguments);
      return status();
    },
    options("approve"),
  );
  setHandler(
    defineUpdate<LiveStatus, Given<"answer">>("answer"),
    ({ call, text }) => {
      actions.answer(call, text);
      return status();
    },
    options("answer"),
  );
  setHandler(
    defineUpdate<LiveStatus, Given<"deny">>("deny"),
    ({ call, reason }) => {
      actions.deny(call, reason);
      return status();
    },
    options("deny"),
  );
  setHandler(
    defineUpdate<LiveStatus, Given<"say">>("say"),
    async ({ text, role = "user" }) => {
      await actions.say(text, role);
      return status();
    },
    options("say"),
  );

  // Signals serve when no worker is up to answer an update. They take effect when a worker is.
  setHandler(
    defineSignal<Given<"pause">>("pause"),
    (order) => actions.pause(reasonIn(order)),
    signal("pause"),
  );
  setHandler(defineSignal("resume"), () => actions.resume(), signal("resume"));
  setHandler(
    defineSignal<Given<"cancel">>("cancel"),
    (order) => actions.cancel(reasonIn(order)),
    signal("cancel"),
  );
}

/** Signals are not validated: returns the reason if it is a text. */
function reasonIn(given: { reason?: unknown } | null | undefined): string | undefined {
  const reason = given?.reason;
  return typeof reason === "string" ? reason : undefined;
}
