import type { ShellWord } from './shell-word.js';

const REGEX = String.raw`\/(?:[^/\\\n]|\\.)*\/[IM]*`;
const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|${REGEX})`;

/** One command of a script that only edits its input: no `e`, `r`, `w`, no flag `e` or `w`. From the manual of GNU sed 4.8. */
const STEP = new RegExp(
  String.raw`[\s;{}]+|#[^\n]*|${ADDRESS}(?:,(?:${ADDRESS}|[+~]\d+))?[\s!]*|[=dDFgGhHnNpPxz]|[lqQ]\d*|[:btT][^\S\n]*\w*` +
    String.raw`|[aic]\\?[^\n\\]*|([sy])([^\w\s\\])((?:(?!\2)[^\\\n]|\\[\s\S])*)\2(?:(?!\2)[^\\]|\\[\s\S])*\2[gpiImM\d]*`,
  'y',
);

/** Each `[` is closed. Where one is not, implementations of sed differ about where the pattern ends. */
const CLOSED = /^(?:[^[\\]|\\[\s\S]|\[\^?\]?[^\]]*\])*$/;

function isHarmless(script: string): boolean {
  let position = 0;
  while (position < script.length) {
    STEP.lastIndex = position;
    const step = STEP.exec(script);
    if (step === null) return false;
    const pattern = step[1] === 's' ? step[3] : step[0].startsWith('/') ? step[0] : '';
    if (!CLOSED.test(pattern ?? '')) return false;
    position = STEP.lastIndex;
  }
  return true;
}

const PLAIN =
  /^(-[nErsuz]+|--(quiet|silent|regexp-extended|null-data|zero-terminated|separate|unbuffered|posix|sandbox|debug|version|help))$/;

/** The position of the last word by which sed reads or writes files or runs commands; -1 when it only edits its input. */
export function escapingSedWord(words: readonly ShellWord[]): number {
  let [last, firstOperand, hasScript, onlyOperands] = [-1, -1, false, false];
  const judge = (index: number, script: string | null): void => {
    if (script === null || !isHarmless(script)) last = Math.max(last, index);
  };
  for (let index = 1; index < words.length; index += 1) {
    const { value = null, mayBeOption = true } = words[index] ?? {};
    const attached = /^(?:-[nErsuz]*e|--expression=)([\s\S]+)$/.exec(value ?? '')?.[1];
    if (onlyOperands || (!mayBeOption && !value?.startsWith('-')) || value === '-') {
      if (firstOperand === -1) firstOperand = index;
    } else if (value === '--') onlyOperands = true;
    else if (attached !== undefined || /^-[nErsuz]*e$/.test(value ?? '')) {
      hasScript = true;
      if (attached === undefined) index += 1;
      judge(index, attached ?? words[index]?.value ?? null);
    } else if (value === null || !PLAIN.test(value)) last = index;
  }
  if (!hasScript && firstOperand !== -1) judge(firstOperand, words[firstOperand]?.value ?? null);
  return last;
}
