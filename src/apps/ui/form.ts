import { type Html, html, nothing } from "../../results/report/html.ts";

/** A text field with its label. */
export function textField(
  name: string,
  label: string,
  options: {
    value?: string;
    hint?: string;
    wide?: boolean;
    type?: "text" | "number";
    required?: boolean;
  } = {},
): Html {
  const { value = "", hint = "", wide = false, type = "text", required = false } = options;
  const needed = required ? html` required` : nothing;
  const any = type === "number" ? html` step="any"` : nothing;
  return html`<label class="${wide ? "field wide" : "field"}"><span>${label}</span><input type="${type}" name="${name}" value="${value}" placeholder="${hint}" autocomplete="off"${any}${needed}></label>`;
}

/** A choice with its label. "" comes first and means that nothing is chosen. */
export function choice(
  name: string,
  label: string,
  values: readonly string[],
  chosen = "",
  none?: string,
): Html {
  const first = none === undefined ? [] : [html`<option value="">${none}</option>`];
  const rest = values.map((value) =>
    value === chosen
      ? html`<option value="${value}" selected>${value}</option>`
      : html`<option value="${value}">${value}</option>`,
  );
  return html`<label class="field"><span>${label}</span><select name="${name}">${first}${rest}</select></label>`;
}

/** A form that changes something. `hidden` contains what it sends in addition to its fields. */
export function orderForm(
  path: string,
  button: string,
  hidden: Record<string, string>,
  fields: readonly Html[] = [],
): Html {
  const given = Object.entries(hidden).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form method="post" action="${path}" class="order">${given}${fields}<button>${button}</button></form>`;
}
