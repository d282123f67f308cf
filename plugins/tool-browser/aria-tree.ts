/** A part of a page as its accessibility tree has it. */
export interface AriaNode {
  role: string;
  name: string;
  /** In brackets: `ref` is Playwright's; of a state without a value the value is "". */
  attributes: Record<string, string>;
  /** The text after it, of what has no other children: a field's value. */
  text: string;
  /** Such as `url`, a link's, and `placeholder`, a field's. */
  properties: Record<string, string>;
  children: AriaNode[];
}

/** Reads what Playwright's `ariaSnapshot` writes with the mode `ai`: YAML, of which it uses little. */
export function parseAria(snapshot: string): AriaNode[] {
  const root: AriaNode = node("root");
  const open: { indent: number; node: AriaNode }[] = [{ indent: -1, node: root }];
  for (const line of snapshot.split("\n")) {
    const [, spaces = "", item = ""] = /^( *)- (.*)$/.exec(line) ?? [];
    if (item === "") continue;
    while (open.length > 1 && (open.at(-1)?.indent ?? -1) >= spaces.length) open.pop();
    const parent = open.at(-1)?.node ?? root;
    const { key, value } = split(item);
    if (key.startsWith("/")) {
      parent.properties[key.slice(1)] = value;
      continue;
    }
    const child = keyed(key);
    child.text = value;
    parent.children.push(child);
    open.push({ indent: spaces.length, node: child });
  }
  return root.children;
}

function node(role: string): AriaNode {
  return { role, name: "", attributes: {}, text: "", properties: {}, children: [] };
}

/** `heading "News" [level=1] [ref=e2]` */
function keyed(key: string): AriaNode {
  const [, role = "", name, rest = ""] = /^([^\s"[/]+)(?: ("(?:[^"\\]|\\.)*"|\/.*\/))?(.*)$/s.exec(key) ?? [];
  const attributes = [...rest.matchAll(/\[([a-z-]+)(?:=([^\]]*))?\]/g)];
  return {
    ...node(role),
    name: name === undefined ? "" : unquoted(name),
    attributes: Object.fromEntries(attributes.map(([, one = "", value = ""]) => [one, value])),
  };
}

/** `key`, `key:`, `key: value`; a key with signs of YAML stands in single quotes, such a value in double ones. */
function split(item: string): { key: string; value: string } {
  if (item.startsWith("'")) {
    const [, quoted = "", value = ""] = /^'((?:[^']|'')*)'(?::(?: (.*))?)?$/.exec(item) ?? [];
    return { key: quoted.replaceAll("''", "'"), value: unquoted(value) };
  }
  const [, key = item, value = ""] = /^((?:[^":]|"(?:[^"\\]|\\.)*"|:(?! |$))*):(?: (.*))?$/.exec(item) ?? [];
  return { key, value: unquoted(value) };
}

function unquoted(text: string): string {
  if (!/^".*"$/.test(text)) return text;
  try {
    return String(JSON.parse(text.replace(/\\x([0-9a-f]{2})/gi, "\\u00$1")));
  } catch {
    return text.slice(1, -1);
  }
}
