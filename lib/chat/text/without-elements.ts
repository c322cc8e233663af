/**
 * A text without its elements, such as `<recalled>…</recalled>`, each replaced by `replacement`. `opening` matches their beginning, with the name as its group.
 * Linear: a name that is not closed is looked for once.
 */
export function withoutElements(text: string, opening: RegExp, replacement: string): string {
  const unclosed = new Set<string>();
  let kept = '';
  let from = 0;
  for (const { 0: begin, 1: name = '', index } of text.matchAll(opening)) {
    if (index < from || unclosed.has(name)) continue;
    const closing = `</${name}>`;
    const end = text.indexOf(closing, index + begin.length);
    if (end === -1) {
      unclosed.add(name);
      continue;
    }
    kept += text.slice(from, index) + replacement;
    from = end + closing.length;
  }
  return kept + text.slice(from);
}
