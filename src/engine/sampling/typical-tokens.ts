import type { Framing } from "../tokens/framing.ts";

/** Samples of everything that agents read: prose, numbers, a table, JSON, code, Markdown, other scripts. */
const text = `The harbour of Trieste was crowded that morning. Two ferries, late because of the fog, waited outside the breakwater while a tug
turned a grain ship of 41,250 tonnes around. "We lose an hour," said the pilot, "but nobody loses a hull." What would you have done?

Weigh both offers: 3 boxes at 14.90 EUR each, or 5 boxes for 68.75 EUR with 7 % off. First, 3 * 14.9 = 44.7. Then 68.75 * 0.93 = 63.9375,
so a box costs 12.7875. The second is cheaper by 2.11 a box.

| id | name    | born       | score |
|----|---------|------------|-------|
| 1  | Amélie  | 1987-04-12 | 0.93  |
| 2  | Søren   | 2001-11-30 | -1.5  |

{"name": "search", "arguments": {"query": "SELECT count(*) FROM orders WHERE total > 100", "limit": 25, "tags": ["sales", null, true]}}

\`\`\`python
def merge(left: list[int], right: list[int]) -> list[int]:
    # both are sorted
    result, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            result.append(left[i]); i += 1
        else:
            result.append(right[j]); j += 1
    return result + left[i:] + right[j:]
\`\`\`

## Steps
1. **Read** the file \`/etc/hosts\`; exit code 0.
2. If it fails with "Permission denied (13)", try \`sudo cat /etc/hosts | head -n 5\`.
3. See https://example.org/docs?page=2#notes — then answer in one word.

Das Wetter bleibt schön, aber morgen regnet es. ¿Cuánto cuesta el billete a Córdoba? Поезд отходит в семь часов. 明天上午九点开会。 今日はとても寒いです。 ∑ xᵢ² ≤ 10⁻³ 🙂
`;

/** Returns several hundred tokens of a typical chat in the policy's chat template. */
export function typicalTokens({ framePrompt }: Pick<Framing, "framePrompt">): number[] {
  return framePrompt([{ role: "user", content: text }], []).tokens;
}
