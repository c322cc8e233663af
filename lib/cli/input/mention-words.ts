/** A pasted range of a text, in which an `@` is ordinary text. */
export interface MentionSpan {
  readonly start: number;
  readonly end: number;
}

/** A path that a word may refer to. */
export interface MentionedPath {
  readonly path: string;
  /** Whether it counts only if it is a file: what follows it in the word would be odd after a folder, and is common in code. */
  readonly fileOnly: boolean;
}

/** A word with an `@` before it. */
export interface MentionedWord {
  /** As in the text, without the sentence's punctuation. */
  readonly word: string;
  /** The paths it may refer to, longest first. */
  readonly paths: readonly MentionedPath[];
}

const SPACELESS_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/**
 * `@path` with spaces escaped, or `@"a path with spaces"`. The `@` must not follow what could be a mailbox name or a folder, but may follow words of
 * a script without spaces.
 */
const MENTION = new RegExp(
  `(?<=^|[^\\p{L}\\p{N}_.+%/\\\\@-]|${SPACELESS_SCRIPT.source})@(?:"([^"\\n]+)"|((?:\\\\\\s|[^\\s"@])(?:\\\\\\s|\\S)*))`,
  'gu',
);

/** Punctuation of a sentence, quotes and closing brackets: what may follow a path at the end of a word. */
const CLOSING = /^(?:['’]s|[.,;:!?…–—'"’”»`´)\]}>、。，；：！？）」』】》])+/u;
/** What starts the next word without a space: `@notes.txt,and`, `“@notes.txt”—really`. */
const NEXT = /[,;…–—”»、。，；：！？）」』】》]/u;
/** A place in a file, as compilers (`:12:3`) and GitHub (`#L3-L10`) write it. */
const PLACE = /^(?::\d+(?::\d+|-\d+)?|#L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?)/u;

/** The longest path a system takes is 4096 bytes; a word of that length is data. */
const MAX_LENGTH = 1024;
/** A text with more mentions is data too, such as a pasted log. */
const MAX_MENTIONS = 1000;
const MAX_PATHS = 64;

/** The mentions that were typed, each once, in order. No disk is asked. */
export function mentionsIn(text: string, pasted: readonly MentionSpan[]): readonly MentionedWord[] {
  const found = new Map<string, MentionedWord>();
  for (const { 0: mention, 1: quoted, 2: run = '', index } of text.matchAll(MENTION)) {
    if (found.size === MAX_MENTIONS) break;
    if (run.length > MAX_LENGTH || pasted.some(({ start, end }) => index >= start && index < end)) continue;
    if (!found.has(mention)) {
      found.set(
        mention,
        quoted === undefined
          ? wordOf(
              run.replace(/\\(\s)/g, '$1'),
              /[*~]{0,3}$/.exec(text.slice(Math.max(0, index - 3), index))?.[0] ?? '',
            )
          : { word: quoted, paths: [{ path: quoted, fileOnly: false }] },
      );
    }
  }
  return [...found.values()];
}

/** Whether a word was likely meant as a path, so that the user should know if it is not one. */
export function looksLikePath(word: string): boolean {
  return /[./]/.test(word) && /[\p{L}\p{N}]/u.test(word);
}

/** `marks` are emphasis marks before the `@`, which may also end the word: `**@notes.txt**`. */
function wordOf(run: string, marks: string): MentionedWord {
  const paths: MentionedPath[] = [{ path: run, fileOnly: false }];
  for (let at = run.length - 1; at > 0 && paths.length < MAX_PATHS; at -= 1) {
    const path = run.slice(0, at);
    const end = endingAt(run, at, marks);
    // `@src/...` would leave the folder above `src`.
    if (end !== null && /[\p{L}\p{N}]/u.test(path) && !/\/\.{1,2}$/.test(path)) {
      paths.push({ path, fileOnly: end === 'file' });
    }
  }
  return { word: withoutSigns(run) || run, paths };
}

function withoutSigns(run: string): string {
  const characters = [...run];
  return characters.slice(0, characters.findLastIndex((one) => !/[\p{P}\p{S}]/u.test(one)) + 1).join('');
}

/** What may end at a place in a word: a file or folder, a file alone, or nothing. Code that an `@` stands in (`@app(x)`, `@src/*.ts`) is not cut. */
function endingAt(run: string, at: number, marks: string): 'any' | 'file' | null {
  const startsScript = (index: number): boolean =>
    SPACELESS_SCRIPT.test(run.charAt(index)) && !SPACELESS_SCRIPT.test(run.charAt(index - 1));
  if (startsScript(at)) return 'any';
  const place = PLACE.exec(run.slice(at))?.[0] ?? '';
  const following = run.slice(at + place.length);
  const rest = marks === '' ? following : following.replace(marks, '"');
  const closing = CLOSING.exec(rest)?.[0] ?? '';
  if (place + closing === '') return null;
  const next = rest.charAt(closing.length);
  if (next === '' || SPACELESS_SCRIPT.test(next)) return place === '' ? 'any' : 'file';
  return NEXT.test(closing) ? 'file' : null;
}
