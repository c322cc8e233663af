/**
 * Somebody's text in a block whose tag and attributes say where it comes from. Nothing in it can end the block or pass for another one: the tag gets a
 * number that neither the text nor the attributes contain.
 */
export function textBlock(name: string, attributes: Readonly<Record<string, string>>, text: string): string {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  const start = given.join('');
  const tag = unusedTag(name, `${start}\n${text}`);
  return `<${tag}${start}>\n${text}${text.endsWith('\n') ? '' : '\n'}</${tag}>`;
}

function unusedTag(name: string, text: string): string {
  const used = new Set<string>();
  for (const [, found = '', number = ''] of text.matchAll(TAG))
    if (found.toLowerCase() === name) used.add(number.replace(/^0+/, ''));
  if (!used.has('')) return name;
  let number = 2;
  while (used.has(String(number))) number += 1;
  return `${name}-${number}`;
}

/** A tag as a model may read one. */
const TAG = /<\s{0,8}\/?\s{0,8}([a-z]{1,20})(?:-(\d{1,9}))?\b/gi;
