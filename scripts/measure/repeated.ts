/** The number of equal lines that count as a copy. */
const LONG = 6;

interface Text {
  readonly file: string;
  readonly text: string;
}

/**
 * The places where six or more consecutive lines of code are repeated, as `FILE:LINE = FILE:LINE`. Ignores imports,
 * comments and blank lines.
 */
export function repeatedLines(texts: readonly Text[]): readonly string[] {
  const first = new Map<string, string>();
  const found: string[] = [];
  for (const { file, text } of texts) {
    const lines = codeOf(text);
    let until = 0;
    for (let at = 0; at + LONG <= lines.length; at += 1) {
      const block = lines.slice(at, at + LONG);
      const key = block.map(({ code }) => code).join('\n');
      const place = `${file}:${block[0]?.number}`;
      const before = first.get(key);
      if (before === undefined) first.set(key, place);
      else if (at >= until) {
        found.push(`${before} = ${place}`);
        until = at + LONG;
      }
    }
  }
  return found;
}

function codeOf(text: string): readonly { code: string; number: number }[] {
  const lines = text.split('\n').map((line, index) => ({ code: line.trim(), number: index + 1 }));
  return lines.filter(({ code }) => code.length > 2 && !/^(?:import |export .* from |\/\/|\/?\*|\}? from )/.test(code));
}
