/** How many marks one character may have. More would cover the lines around it; no language needs more than five. */
const MAX_MARKS = 16;

/**
 * All control characters: C0 except newline, tab and the return of a CRLF, DEL and C1. Also lone surrogates, which no
 * stream can encode; characters that change the direction of the text around them; separators that a terminal does not
 * show as such; and invisible tag characters, which can spell hidden text, unless they follow a black flag and make it
 * the flag of a region.
 */
const CONTROL =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb\p{Cs}]|\r(?!\n)|(?<!\u{1f3f4}[\u{e0030}-\u{e007a}]{0,6})[\u{e0000}-\u{e007f}]/u;
const FLAG_AT_END = /\u{1f3f4}[\u{e0030}-\u{e007a}]{0,6}$/u;
const FLOOD = new RegExp(`(\\p{M}{${MAX_MARKS}})\\p{M}+`, 'u');
const ALL_CONTROLS = new RegExp(CONTROL, 'gu');
const ALL_FLOODS = new RegExp(FLOOD, 'gu');

/**
 * The text with control characters made visible, so that a terminal shows an escape sequence instead of executing it.
 * Newlines and tabs stay.
 */
export function neutralise(text: string): string {
  const bounded = FLOOD.test(text) ? text.replace(ALL_FLOODS, '$1\ufffd') : text;
  return CONTROL.test(bounded) ? bounded.replace(ALL_CONTROLS, visible) : bounded;
}

/**
 * The JSON text with escapes for what a terminal obeys and JSON does not escape: DEL, C1, bidi controls, tags, floods
 * of marks. Its value is unchanged.
 */
export function neutraliseJson(json: string): string {
  const bounded = FLOOD.test(json)
    ? json.replace(ALL_FLOODS, (run, shown: string) => shown + escaped(run.slice(shown.length)))
    : json;
  return bounded.replace(/[\x7f-\x9f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g, escaped);
}

const escaped = (text: string): string =>
  text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

/**
 * `neutralise` for a text that arrives in pieces, split anywhere. The returned pieces, joined, equal `neutralise` of
 * the whole text.
 */
export class Neutraliser {
  /** A last character whose meaning depends on the next one. */
  #pending = '';
  /** The end of the earlier text that affects the next: its marks, as many as count, or a flag and its tags. */
  #before = '';

  push(piece: string): string {
    const text = this.#pending + piece;
    this.#pending = isUndecided(text.charCodeAt(text.length - 1)) ? text.slice(-1) : '';
    return this.#decided(this.#pending === '' ? text : text.slice(0, -1));
  }

  /** Ends the text and returns what is still pending. */
  end(): string {
    const rest = this.#decided(this.#pending);
    this.#pending = '';
    return rest;
  }

  #decided(text: string): string {
    if (text === '') return '';
    const shown = this.#before.length;
    const whole = this.#before + text;
    this.#before = FLAG_AT_END.exec(whole.slice(-LONGEST_FLAG))?.[0] ?? marksAtEnd(whole);
    return shown === 0 ? neutralise(text) : neutralise(whole).slice(neutralise(whole.slice(0, shown)).length);
  }
}

/** In units: a flag and six tags. */
const LONGEST_FLAG = 14;

/** The marks at the end of the text; at most one more than are shown. */
function marksAtEnd(text: string): string {
  // A mark takes two units at most.
  const last = [...text.slice(-2 * (MAX_MARKS + 1))];
  const start = last.findLastIndex((character) => !/\p{M}/u.test(character));
  return last.slice(start + 1).join('');
}

/** A return may be the start of a CRLF, and a high surrogate the start of a pair. */
const isUndecided = (code: number): boolean => code === 0x0d || (code >= 0xd800 && code <= 0xdbff);

/** Unicode has control pictures (from U+2400) for C0 and DEL, but none for C1 and lone surrogates. */
function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}

/**
 * What a reader cannot see, or what changes the order or the look of other characters: controls, lone surrogates, bidi
 * controls, everything that Unicode lets a renderer ignore, spaces other than U+0020, unassigned and private
 * characters. Newlines are not included.
 */
const INVISIBLE = String.raw`[\x00-\x09\x0b-\x1f\x7f-\x9f\p{Cs}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800]|(?! )\p{Zs}`;

/**
 * An emoji sequence, which is seen as one picture. Tag sequences (some flags) are not included: tags can spell
 * anything.
 */
const EMOJI = String.raw`\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?(?:\u200d\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?){0,8}|[0-9#*]\ufe0f\u20e3`;

/** A longer run of spaces is replaced by its length, because the text after it could be off the screen. */
const MAX_BLANKS = 32;

/** More marks on one character would cover the lines around it. No language needs more than five. */
const MAX_SHOWN_MARKS = 8;

interface Patterns {
  readonly invisible: RegExp;
  readonly replaced: RegExp;
}

let made: Patterns | null = null;

/** Created on first use: these Unicode patterns take longer to compile than most modules take to load. */
function patterns(): Patterns {
  made ??= {
    invisible: new RegExp(INVISIBLE, 'u'),
    replaced: new RegExp(`${EMOJI}|\t|${INVISIBLE}|\\p{M}{${MAX_SHOWN_MARKS},}`, 'gu'),
  };
  return made;
}

/**
 * The text in a form that can be judged by eye: invisible characters are named (`<U+202E>`), runs of spaces and of
 * marks are counted, a tab is four spaces. Newlines stay. For questions to the user: nothing in it can hide, and
 * nothing controls the terminal.
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
  if (/\p{M}/u.test(first) && characters.length >= MAX_SHOWN_MARKS) return `<${characters.length} marks>`;
  // Keeps an emoji unchanged.
  return patterns().invisible.test(first) ? characters.map(named).join('') : found;
}

const named = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
