import type { Transcript, WaitingCall } from "../../../contracts/orders.ts";
import { type Html, html } from "../../../results/report/html.ts";
import { choice, orderForm, textField } from "../form.ts";
import { trajectoryPath } from "../paths.ts";

/** Forms with which a person sends a live trajectory a message, pauses, resumes or ends it. */
export function orders(id: string): Html {
  const path = trajectoryPath(id, "orders");
  const reason = () => textField("reason", "reason");
  return html`<h2>Orders to this trajectory</h2>
${orderForm(path, "Send", { order: "say" }, [textField("text", "a message before the next action", { wide: true, required: true }), choice("role", "as", ["user", "system"], "user")])}
${orderForm(path, "Pause", { order: "pause" }, [reason()])}${orderForm(path, "Resume", { order: "resume" })}${orderForm(path, "End and leave out", { order: "cancel" }, [reason()])}`;
}

/** A call that waits for a person, with the forms that decide about it. */
export function decision(
  id: string,
  { call, tool, arguments: given, since, isQuestion, whom }: WaitingCall,
): Html {
  const path = trajectoryPath(id, "orders");
  const who = whom === undefined ? "a person" : whom;
  const asked = JSON.stringify(given, undefined, 2);
  const forms =
    isQuestion === true
      ? [
          orderForm(path, "Answer", { order: "answer", call }, [
            textField("text", "the answer", { wide: true, required: true }),
          ]),
        ]
      : [
          orderForm(path, "Approve", { order: "approve", call }, [
            textField("arguments", "other arguments as JSON (optional)", {
              wide: true,
              hint: JSON.stringify(given),
            }),
          ]),
          orderForm(path, "Deny", { order: "deny", call }, [
            textField("reason", "the reason, which the model reads", { wide: true, required: true }),
          ]),
        ];
  return html`<section class="said person"><h3>${`call ${call} of ${tool} waits for ${who}`}<span>${`since ${since.slice(0, 19).replace("T", " ")} UTC`}</span></h3><pre>${asked}</pre>${forms}</section>`;
}

/** A line about a live trajectory's state. */
export function statusLine({ state, turn, reason, willPause, messages }: Transcript): Html {
  const facts = [
    ...(turn === 0 ? ["before its first turn"] : [`turn ${turn}`]),
    ...(reason === undefined ? [] : [reason]),
    ...(willPause === true ? ["will pause after this turn"] : []),
    ...messages.map(({ role, content }) => `not yet read, as ${role}: ${content}`),
  ];
  return html`<p class="facts" role="status"><span class="state live">${state}</span> ${facts.join(" · ")}</p>`;
}
