import { describe, expect, test } from "vitest";
import { formats } from "../../../../src/chat/formats/formats.ts";

const code = { type: "object", required: ["code"], properties: { code: { type: "string" } } };
const tools = [{ name: "python", description: "", parameters: code }];
const format = formats.find(({ name }) => name === "fenced");
const read = (text: string) => {
  const { answer = "", calls = [] } = format?.parse(text, { tools }) ?? {};
  return [answer, ...calls.map((call) => call.problem ?? call.arguments.code)];
};

/** By CommonMark 0.31.2, section 4.5. */
describe("a fence", () => {
  test.each<[string, string, unknown[]]>([
    ["ends on a line of its own", '```python\nprint("```")\n```', ["", 'print("```")']],
    ["ends with as many signs, or more", "````python\n```\nx\n```\n`````", ["", "```\nx\n```"]],
    [
      "is not ended by fewer",
      "````python\nx\n```",
      [expect.any(String), expect.stringContaining("not closed")],
    ],
    ["may be of tildes, which only tildes end", "~~~python\n```\nx\n~~~", ["", "```\nx"]],
    ["is not ended by a line with an info string", "```python\n```js\nx\n```", ["", "```js\nx"]],
    ["may have spaces after its end", "```python\nx\n```  \t\ny", ["y", "x"]],
    [
      "may stand three spaces in, which its lines lose",
      "   ```python\n   if x:\n       y\n  z\n   ```",
      ["", "if x:\n    y\nz"],
    ],
    [
      "does not stand four spaces in",
      "a\n    ```python\n    x\n    ```",
      [expect.stringContaining("python")],
    ],
    ["is not ended by a line four spaces in", "```python\nx\n    ```\n```", ["", "x\n    ```"]],
    ["has its language as the first word", '``` python title="x"\ny\n```', ["", "y"]],
    [
      "of another language stays, and what stands in it",
      "```md\n~~~python\nx\n~~~\n```",
      ["```md\n~~~python\nx\n~~~\n```"],
    ],
    [
      "within a line is none",
      "Write ```python to begin.\n``` is the end.",
      [expect.stringContaining("Write")],
    ],
    ["of backticks has none in its info string", "```python ``` x\n```", [expect.stringContaining("python")]],
    [
      "may have lines that end with CRLF",
      "a\r\n```python\r\nx\r\n\r\ny\r\n```\r\nb",
      ["a\r\n\r\nb", "x\r\n\r\ny"],
    ],
    ["may be empty", "```python\n```", ["", ""]],
    ["keeps spaces and lines at its ends", "```python\n\n  x \n\n```", ["", "\n  x \n"]],
    ["that is not closed is told", "```python\nx", ["", expect.stringContaining("not closed")]],
  ])("%s", (_, text, wanted) => expect(read(text)).toEqual(wanted));
});

test("a program is written in a fence that is longer than those in it", () => {
  for (const text of ["```\nx\n```", "`````", "~~~", "a ``` b", "x\r", "\r\n", "   ```", ""]) {
    const calls = [{ name: "python", arguments: { code: text } }];
    expect(read(format?.render(calls, tools) ?? "")).toEqual(["", text]);
  }
});
