import { number } from "../../../base/text/format.ts";
import { type Html, html } from "../../../results/report/html.ts";
import type { TokenRow } from "../../../run/projections/token-rows.ts";
import { withQuery } from "../paths.ts";

/** The values that determine tokens' colors. */
export const tokenColours = ["mask", "log-probability", "advantage"] as const;

/** One of these values. */
export type TokenColour = (typeof tokenColours)[number];

/** The probabilities below which a token gets the next color. Likely ones are pale. */
const heats = [0.9, 0.5, 0.1, 0.01];

const keys: Record<TokenColour, [kind: string, text: string][]> = {
  mask: [
    ["t-in", "read: mask 0"],
    ["t-0", "sampled: mask 1"],
  ],
  "log-probability": [
    ["t-0", "above 90 %"],
    ["t-1", "50 to 90 %"],
    ["t-2", "10 to 50 %"],
    ["t-3", "1 to 10 %"],
    ["t-4", "below 1 %"],
  ],
  advantage: [
    ["t-up", "to become likelier: the reward is above the group's mean"],
    ["t-down", "to become less likely: below the mean"],
    ["t-in", "read, or no difference"],
  ],
};

/**
 * Every token of a trajectory, colored. `advantage` is its reward minus its group's mean; undefined if it has no
 * group.
 */
export function tokensSection(
  path: string,
  colour: TokenColour,
  rows: readonly TokenRow[],
  advantage: number | undefined,
): Html {
  const links = tokenColours.map((one) =>
    one === colour
      ? html`<a href="${withQuery(path, { tokens: one })}#tokens" aria-current="true">${one}</a>`
      : html`<a href="${withQuery(path, { tokens: one })}#tokens">${one}</a>`,
  );
  const key = keys[colour].map(
    ([kind, text]) => html`<span class="key"><b class="${kind}">${text}</b></span>`,
  );
  const told =
    colour !== "advantage"
      ? ""
      : advantage === undefined
        ? "It is in no group, so there is no mean to compare its reward with."
        : `Its reward minus the mean of its group: ${number(advantage)}. The trainer may scale this number or divide it among the turns.`;
  const tokens = rows.map(
    (row) =>
      html`<span class="${kindOf(row, colour, advantage)}" title="${titleOf(row)}">${row.text ?? `⟨${row.token}⟩`}</span>`,
  );
  return html`<h2 id="tokens">Tokens, by ${colour}</h2><p class="tabs">${links}</p><p class="legend">${key}</p><p class="facts">${told}</p>
<pre class="card tokens" tabindex="0" role="region" aria-label="Tokens">${tokens}</pre>`;
}

function kindOf({ mask, logprob }: TokenRow, colour: TokenColour, advantage = 0): string {
  if (mask === 0) return "t-in";
  if (colour === "mask") return "t-0";
  if (colour === "advantage") return advantage > 0 ? "t-up" : advantage < 0 ? "t-down" : "t-in";
  if (logprob === undefined) return "t-in";
  const probability = Math.exp(logprob);
  const heat = heats.findIndex((bound) => probability >= bound);
  return `t-${heat === -1 ? heats.length : heat}`;
}

function titleOf({ position, origin, token, mask, logprob }: TokenRow): string {
  const sampled =
    logprob === undefined
      ? ""
      : `, log-probability ${logprob.toFixed(4)} (${number(Math.exp(logprob) * 100)} %)`;
  return `${position}: token ${token}, ${origin}, mask ${mask}${sampled}`;
}
