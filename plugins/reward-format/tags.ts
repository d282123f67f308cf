/**
 * Whether a text has each tag exactly once, opened and closed, in this order, not nested, and with content.
 * With `only`, there must be only whitespace outside the tags. Takes time in proportion to the text.
 */
export function tagsForm(tags: readonly string[], only: boolean): (text: string) => boolean {
  return (text) => {
    let at = 0;
    const beside: string[] = [];
    for (const tag of tags) {
      const [open, close] = [`<${tag}>`, `</${tag}>`];
      const [start, end] = [onlyPlace(text, open), onlyPlace(text, close)];
      if (start === undefined || end === undefined || start < at || end < start + open.length) return false;
      if (text.slice(start + open.length, end).trim() === "") return false;
      beside.push(text.slice(at, start));
      at = end + close.length;
    }
    return !only || [...beside, text.slice(at)].every((part) => part.trim() === "");
  };
}

/** The place of a part that appears exactly once. Undefined otherwise. */
function onlyPlace(text: string, part: string): number | undefined {
  const place = text.indexOf(part);
  return place < 0 || text.includes(part, place + part.length) ? undefined : place;
}
