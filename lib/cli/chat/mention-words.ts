/** A stretch of a text that was pasted: an `@` in there is text and nothing else. */
export interface MentionSpan {
  readonly start: number;
  readonly end: number;
}

/** A word with an `@` before it. */
export interface MentionedWord {
  /** As it stands in the text, without the punctuation of the sentence. */
  readonly word: string;
  /** The paths it may mean, the longest first. */
  readonly paths: readonly string[];
}

const SPACELESS_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/**
 * `@path` with blanks escaped, or `@"a path with blanks"`. Nothing that could be the name of a mailbox, or a folder, stands before the `@`; words of
 * a script without blanks may.
 */
const MENTION = new RegExp(
  `(?<=^|[^\\p{L}\\p{N}_.+%/\\\\@-]|${SPACELESS_SCRIPT.source})@(?:"([^"\\n]+)"|((?:\\\\\\s|[^\\s"@])(?:\\\\\\s|\\S)*))`,
  'gu',
);

/** What ends a path in the middle of a word when the whole word is no file: `@notes.txt's`, `@main.c:12`, `@notes.txt, and`. */
const PATH_END = /['"’”»`´,;:!?()[\]{}<>|*=#…–—、。，；：！？）」』】》]/u;

/** The longest path a system takes is 4096 bytes; a word of that length is data. */
const MAX_LENGTH = 1024;
/** More mentions than this are data too, such as a log that was recalled. */
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
        quoted === undefined ? wordOf(run.replace(/\\(\s)/g, '$1')) : { word: quoted, paths: [quoted] },
      );
    }
  }
  return [...found.values()];
}

/** Whether a word was likely meant as a path, so that the user should know that it is none. */
export function looksLikePath(word: string): boolean {
  return /[./]/.test(word) && /[\p{L}\p{N}]/u.test(word);
}

function wordOf(run: string): MentionedWord {
  const paths = [run];
  for (let at = run.length - 1; at > 0 && paths.length < MAX_PATHS; at -= 1) {
    const path = run.slice(0, at);
    if (mayEnd(run, at) && /[\p{L}\p{N}]/u.test(path)) paths.push(path);
  }
  return { word: run.replace(/[\p{P}\p{S}]+$/u, '') || run, paths };
}

/** Punctuation that a name may well hold, such as a full stop or a hyphen, ends one only at the end of the word. */
function mayEnd(run: string, at: number): boolean {
  const next = run.charAt(at);
  return (
    PATH_END.test(next) ||
    /^[\p{P}\p{S}]+$/u.test(run.slice(at)) ||
    (SPACELESS_SCRIPT.test(next) && !SPACELESS_SCRIPT.test(run.charAt(at - 1)))
  );
}
