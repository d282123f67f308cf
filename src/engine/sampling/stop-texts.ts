/**
 * Returns a function that reports whether the newest token completes one of `texts`. It decodes tokens together,
 * because a text may span several tokens or be part of one.
 */
export function stopTexts(
  texts: readonly string[],
  decode: (tokens: readonly number[]) => string,
): (tokens: readonly number[]) => boolean {
  const longest = Math.max(0, ...texts.map((text) => text.length));
  // A token has at least one byte, and a character at most four.
  const window = 4 * longest + 4;
  return (tokens) => {
    if (longest === 0) return false;
    const recent = decode(tokens.slice(-window));
    return texts.some((text) => recent.includes(text));
  };
}

/** Returns the text before the first of `texts` in it. */
export function beforeStopTexts(text: string, texts: readonly string[]): string {
  const places = texts.map((stop) => text.indexOf(stop)).filter((place) => place >= 0);
  return text.slice(0, Math.min(text.length, ...places));
}
