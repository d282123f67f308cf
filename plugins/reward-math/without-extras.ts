const number = String.raw`-?(?:\d[\d,]*(?:\.\d+)?|\.\d+|\d+/\d+)`;
/** Words that change the number before them. */
const counts =
  "hundred|thousand|million|billion|trillion|dozen|squared|cubed|factorial|hal(?:f|ves)|thirds?|quarters?|infinity|alpha|beta|gamma|theta|lambda";
const unit = String.raw`(?!(?:${counts})\b)[a-zA-Z]{3,}(?: [a-zA-Z]+){0,3}|[a-zA-Z]{1,4}/(?:s|h|hr|min|sec)(?:\^\{?\d\}?)?`;
const withUnit = new RegExp(String.raw`^\$?(${number})\s+(?:${unit})$`);
const choice =
  /^\\(?:text(?:bf|rm|it)?|math(?:bf|rm))\s*\{\s*\(?([A-E])\)?\s*\}\s*(?:\\?[ ,:~]|\\quad)*\s*(\S.*)$/s;

/**
 * Removes from a boxed answer what its ground truth lacks: the words of a unit after a number (18 dollars for
 * 18), and for a choice with its value (`\textbf{(C)}\ 5`) either the letter or the value.
 */
export function withoutExtras(answer: string, gold: string): string {
  const [, letter, value] = choice.exec(answer) ?? [];
  if (letter !== undefined && value !== undefined)
    return /^(?:\\text(?:bf)?\{)?\(?[A-E]\)?\}?$/.test(gold) ? letter : withoutExtras(value, gold);
  if (/[a-zA-Z]/.test(gold.replace(/\\[a-zA-Z]+/g, ""))) return answer;
  const text = /^\\(?:text|mbox|mathrm)\s*\{([^{}]*)\}$/.exec(answer)?.[1]?.trim() ?? answer;
  return withUnit.exec(text)?.[1] ?? answer;
}
