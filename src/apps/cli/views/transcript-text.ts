import { visible } from "../../../base/processes/terminal.ts";
import { counted } from "../../../base/text/format.ts";
import type { Transcript } from "../../../contracts/orders.ts";
import type { Paint } from "./spans.ts";
import { statusText } from "./trajectory-status.ts";
import { callLines, indented, saidLines } from "./trajectory-text.ts";

/** A live trajectory's transcript as text. Its state comes last, where one looks first. */
export function transcriptText(answer: Transcript & { trajectory: string }, paint: Paint): string {
  const { trajectory, prompt, turns, messages } = answer;
  const said = prompt.map(({ role, content }) => indented(`${role}: ${content}`));
  const sections = [
    paint("bold", trajectory),
    [paint("cyan", "prompt"), ...said].join("\n"),
    ...turns.flatMap((turn, index) => {
      const missing = turn.number - (turns[index - 1]?.number ?? 0) - 1;
      const gap =
        missing > 0 ? [`… ${counted(missing, "turn")} left out: npx everturn show ${trajectory}`] : [];
      return [...gap, turnText(turn, paint)];
    }),
    ...messages.map(({ role, content }) => `${paint("cyan", role)}  ${visible(content)}  (not yet read)`),
    paint("yellow", statusText(answer)),
  ];
  return `${sections.join("\n\n")}\n`;
}

function turnText(
  { number, agent, action, toolCalls, said = [] }: Transcript["turns"][number],
  paint: Paint,
): string {
  return [
    paint("bold", `turn ${number}`),
    ...saidLines({ said }, paint),
    paint("green", agent === undefined ? "action" : `action of the sub-agent ${agent}`),
    indented(action),
    ...toolCalls.flatMap((call) => callLines(call, paint)),
  ].join("\n");
}
