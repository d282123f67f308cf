/** The end of an agent's console output, for its failure. */
export interface Output {
  add(text: string): void;
  /** The text for the end of a reason. "" if there is no output. */
  text(): string;
}

/** The number of characters that are kept. */
const kept = 2000;

/** Creates an empty output. */
export function outputTail(): Output {
  let said = "";
  return {
    add: (text) => {
      said = `${said}${text}`.slice(-kept);
    },
    text: () => {
      const trimmed = said.trim();
      return trimmed === "" ? "" : `; its last output: ${trimmed}`;
    },
  };
}
