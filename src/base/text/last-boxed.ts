/** A `\boxed{…}` or `\fbox{…}` in a text: its start, its end and its content. */
interface Box {
  start: number;
  end: number;
  content: string;
}

/** What may separate the boxes of a list: a comma, “and”, names (x_1 =), and white space. */
const room =
  /\\(?:q?quad(?![a-zA-Z])|[,;:! ()[\]])|\\(?:text|mbox|mathrm)\s*\{|\b[a-zA-Z](?:_\{?\w\}?)?\s*=|[\s${}]/g;
const joint = /^(?:[,;]|,?and)$/i;
/** A box without braces ends with its formula or line, or before the next word: `\boxed 5 is right`. */
const bare = /^(\S.*?)(?=\s*(?:\$|\\[)\]]|\n|[.,;:!?]?(?:\s+[a-zA-Z]{2,}|\s*$)|[.,;:]\s))/s;
/** The longest box without braces, and the longest separator between boxes of a list, in characters. */
const longest = 200;

/**
 * The content of the last `\boxed{…}` or `\fbox{…}` of a text, including inner braces; also of `\boxed 5`. Undefined
 * if there is none, or if it isn't closed.
 */
export function lastBoxed(text: string): string | undefined {
  return boxBefore(text, text.length)?.content;
}

/** The contents, joined by commas, of the last boxes of a text that only commas and “and” separate. */
export function lastBoxedList(text: string): string | undefined {
  const contents: string[] = [];
  let next: Box | undefined;
  for (let box = boxBefore(text, text.length); box !== undefined; box = boxBefore(text, box.start)) {
    if (next !== undefined && !isJoined(text, box, next)) break;
    contents.push(box.content);
    next = box;
  }
  return next === undefined ? undefined : contents.reverse().join(", ");
}

function isJoined(text: string, { end }: Box, { start }: Box): boolean {
  return end <= start && start - end <= longest && joint.test(text.slice(end, start).replace(room, ""));
}

/** The last box that begins before an offset. */
function boxBefore(text: string, place: number): Box | undefined {
  for (let at = place - 1; at >= 0; at--) {
    at = text.lastIndexOf("\\", at);
    const [opening] = /^\\(?:boxed|fbox)(?![a-zA-Z])\s*/.exec(text.slice(at, at + longest)) ?? [];
    if (at < 0 || opening === undefined) continue;
    const from = at + opening.length;
    const content =
      text[from] === "{" ? braced(text, from) : bare.exec(text.slice(from, from + longest))?.[1];
    if (content === undefined) return undefined;
    const end = from + content.length + (text[from] === "{" ? 2 : 0);
    return { start: at, end, content: content.trim().replace(/^\$([^$]*)\$$/, "$1") };
  }
  return undefined;
}

/** The text between a brace and its matching one. `\{` and `\}` don't count. */
function braced(text: string, open: number): string | undefined {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "{") depth++;
    else if (text[at] === "}" && --depth === 0) return text.slice(open + 1, at);
  }
  return undefined;
}
