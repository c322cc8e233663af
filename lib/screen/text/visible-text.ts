/**
 * What a reader cannot see, or that changes the order or the look of other characters: controls, lone surrogates, bidi controls, everything
 * that Unicode lets a renderer ignore, blanks that are not the blank, characters without a meaning of their own. Newlines are not among them.
 */
const INVISIBLE = String.raw`[\x00-\x09\x0b-\x1f\x7f-\x9f\p{Cs}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800]|(?! )\p{Zs}`;

/** An emoji with what joins its parts, which is seen as one picture. Flags of tags are not among them: tags can spell anything. */
const EMOJI = String.raw`\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?(?:\u200d\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?){0,8}|[0-9#*]\ufe0f\u20e3`;

/** A longer run of blanks is replaced by its length, because the text after it could be off the screen. */
const MAX_BLANKS = 32;

/** More marks than this on one character cover the lines around it. The most that a language needs are five. */
const MAX_MARKS = 8;

interface Patterns {
  readonly invisible: RegExp;
  readonly replaced: RegExp;
}

let made: Patterns | null = null;

/** Made when they are first needed: what they ask of Unicode takes a start longer than most modules. */
function patterns(): Patterns {
  made ??= {
    invisible: new RegExp(INVISIBLE, 'u'),
    replaced: new RegExp(`${EMOJI}|\t|${INVISIBLE}|\\p{M}{${MAX_MARKS},}`, 'gu'),
  };
  return made;
}

/**
 * The text as it can be judged by eye: every character that is not seen is named (`<U+202E>`), runs of blanks and of marks are counted, a tab is
 * four blanks. Newlines stay. For what the user is asked about: nothing in it can hide, and nothing of it obeys.
 */
export function visibleText(text: string): string {
  return text
    .replace(patterns().replaced, shown)
    .replace(/ {2,}/g, (run) => (run.length > MAX_BLANKS ? `<${run.length} blanks>` : run));
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
  // An emoji is left as it is.
  return patterns().invisible.test(first) ? characters.map(named).join('') : found;
}

const named = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
