/** A node of a page's accessibility tree. */
export interface AriaNode {
  role: string;
  name: string;
  /** The attributes in brackets. `ref` is Playwright's. A state without a value has the value "". */
  attributes: Record<string, string>;
  /** The text after it, if it has no other children, such as a field's value. */
  text: string;
  /** Properties such as a link's `url` and a field's `placeholder`. */
  properties: Record<string, string>;
  children: AriaNode[];
}

/**
 * Parses the output of Playwright's `ariaSnapshot` in the mode `ai`. It is YAML with few of YAML's features.
 */
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

/**
 * `key`, `key:` or `key: value`. A key with YAML's special characters is in single quotes, such a value in
 * double quotes.
 */
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
