/** A file's text as the model gets it, in a block that names it. Neither can end the block: its tag gets a number that they do not use. */
export function fileBlock(name: string, text: string): string {
  const used = new Set(
    Array.from(`${name}\n${text}`.matchAll(CLOSING_TAG), ([, number = '']) => number.replace(/^0+/, '')),
  );
  let tag = 'file';
  for (let number = 2; used.has(tag.slice('file-'.length)); number += 1) tag = `file-${number}`;
  return `<${tag} name=${JSON.stringify(name)}>\n${text}${text.endsWith('\n') ? '' : '\n'}</${tag}>`;
}

const CLOSING_TAG = /<\s{0,8}\/\s{0,8}file(?:-(\d{1,9}))?\b/giu;

/** The name and the text of a file in such a block, with the newline before its end; null for any other text. */
export function readFileBlock(text: string): { readonly name: string; readonly text: string } | null {
  const [start, tag = '', quoted = ''] = /^<(file(?:-\d{1,9})?) name=("(?:[^"\\\n]|\\[^\n])*")>\n/.exec(text) ?? [];
  const end = `\n</${tag}>`;
  if (start === undefined || text.length < start.length + end.length - 1 || !text.endsWith(end)) return null;
  try {
    return { name: String(JSON.parse(quoted)), text: text.slice(start.length, 1 - end.length) };
  } catch {
    return null;
  }
}
