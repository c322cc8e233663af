/**
 * What a reader cannot see, or what changes the order or the look of other characters: controls, lone surrogates, bidi controls, everything
 * that Unicode lets a renderer ignore, spaces other than U+0020, unassigned and private characters. Newlines are not included.
 */
const INVISIBLE = String.raw`[\x00-\x09\x0b-\x1f\x7f-\x9f\p{Cs}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800]|(?! )\p{Zs}`;

/** An emoji sequence, which is seen as one picture. Tag sequences (some flags) are not included: tags can spell anything. */
const EMOJI = String.raw`\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?(?:\u200d\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?){0,8}|[0-9#*]\ufe0f\u20e3`;

/** A longer run of spaces is replaced by its length, because the text after it could be off the screen. */
const MAX_BLANKS = 32;

/** More marks on one character would cover the lines around it. No language needs more than five. */
const MAX_MARKS = 8;

interface Patterns {
  readonly invisible: RegExp;
  readonly replaced: RegExp;
}

let made: Patterns | null = null;

/** Created on first use: these Unicode patterns take longer to compile than most modules take to load. */
function patterns(): Patterns {
  made ??= {
    invisible: new RegExp(INVISIBLE, 'u'),
    replaced: new RegExp(`${EMOJI}|\t|${INVISIBLE}|\\p{M}{${MAX_MARKS},}`, 'gu'),
  };
  return made;
}

/**
 * The text in a form that can be judged by eye: invisible characters are named (`<U+202E>`), runs of spaces and of marks are counted, a tab is
 * four spaces. Newlines stay. For questions to the user: nothing in it can hide, and nothing controls the terminal.
 */
export function visibleText(text: string): string {
  return text
    .replace(patterns().replaced, shown)
    .replace(/ {2,}/g, (run) => (run.length > MAX_BLANKS ? `<${run.length} spaces>` : run));
}

/** `visibleText` in one line: `⏎` for each newline. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll('\n', ' ⏎ ');
}

function shown(found: string): string {
  if (found === '\t') return '    ';
  const characters = [...found];
  const [first = ''] = characters;
  if (/\p{M}/u.test(first) && characters.length >= MAX_MARKS) return `<${characters.length} marks>`;
  // Keeps an emoji unchanged.
  return patterns().invisible.test(first) ? characters.map(named).join('') : found;
}

const named = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
