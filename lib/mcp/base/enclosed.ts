/** Tags that would end the block, or start another server's block. */
const BORDERS = {
  server: /<(?=\s{0,8}\/?\s{0,8}server\b)/giu,
  resource: /<(?=\s{0,8}\/\s{0,8}resource\b)/giu,
  prompt: /<(?=\s{0,8}\/\s{0,8}prompt\b)/giu,
} as const;

/** The tag around a server's text. */
export type EnclosingTag = keyof typeof BORDERS;

/** A server's text in a block that names the server. The text cannot end the block, because what follows it would pass for the user's words. */
export function enclosed(tag: EnclosingTag, attributes: Readonly<Record<string, string>>, text: string): string {
  const named = Object.entries(attributes).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  const inside = text.replace(BORDERS[tag], '<\\');
  return `<${tag}${named.join('')}>\n${inside}${inside.endsWith('\n') ? '' : '\n'}</${tag}>`;
}
