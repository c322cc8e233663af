/** What would end the block of its words, or, among the words of several servers, begin one of another. */
const BORDERS = {
  server: /<(?=\s{0,8}\/?\s{0,8}server\b)/giu,
  resource: /<(?=\s{0,8}\/\s{0,8}resource\b)/giu,
  prompt: /<(?=\s{0,8}\/\s{0,8}prompt\b)/giu,
} as const;

/** What a server's words stand in. */
export type EnclosingTag = keyof typeof BORDERS;

/** Words of a server in a block that says whose they are, and that they cannot end: what follows would be the user's. */
export function enclosed(tag: EnclosingTag, attributes: Readonly<Record<string, string>>, text: string): string {
  const named = Object.entries(attributes).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  const inside = text.replace(BORDERS[tag], '<\\');
  return `<${tag}${named.join('')}>\n${inside}${inside.endsWith('\n') ? '' : '\n'}</${tag}>`;
}
