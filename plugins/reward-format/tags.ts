/**
 * Whether a text has each tag once, opened and closed, in this order, none in another, with something in it; with `only`
 * nothing but space beside them. Takes time in proportion to the text.
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

/** Where a text has a part that it has once; undefined if it has none, or more. */
function onlyPlace(text: string, part: string): number | undefined {
  const place = text.indexOf(part);
  return place < 0 || text.includes(part, place + part.length) ? undefined : place;
}
