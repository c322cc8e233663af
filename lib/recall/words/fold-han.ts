import { HAN_VARIANTS } from './han-variants.js';

/** The characters that have other forms are between these. */
const FIRST = 0x3400;
const LAST = 0x9fff;

/** By character from `FIRST` on: the first one of its group, 0 for a character without other forms. Filled when the first Chinese text is seen. */
let firsts: Uint16Array | null = null;

/** A text with one form for each Chinese character, the simplified one where there is one: traditional and Japanese ones are equal to it. */
export function foldHan(text: string): string {
  let folded = '';
  let done = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < FIRST || code > LAST) continue;
    firsts ??= readGroups();
    const first = firsts[code - FIRST] ?? 0;
    if (first === 0) continue;
    folded += text.slice(done, at) + String.fromCharCode(first);
    done = at + 1;
  }
  return done === 0 ? text : folded + text.slice(done);
}

function readGroups(): Uint16Array {
  const table = new Uint16Array(LAST - FIRST + 1);
  for (const group of HAN_VARIANTS.split(' ')) {
    for (let at = 1; at < group.length; at += 1) table[group.charCodeAt(at) - FIRST] = group.charCodeAt(0);
  }
  return table;
}
