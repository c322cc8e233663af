import { describe, expect, it } from '@jest/globals';
import { asTokens } from '../lib/chat/request.js';
import { commandOf } from '../lib/cli/commands/shell-init-command.js';
import { mentionsIn } from '../lib/cli/input/mentions.js';
import { asData, readReply } from '../lib/compaction/prompt.js';
import { secretMask } from '../lib/permission/secrets.js';
import { parseQuery } from '../lib/recall/rank/query.js';
import { complete } from '../lib/repl/editing/completion.js';
import { previousShellWord, previousWord } from '../lib/repl/editing/edit-buffer.js';
import { visibleText } from '../lib/screen/text/neutralise.js';

const LENGTH = 500_000;
const long = (piece: string): string => piece.repeat(LENGTH / piece.length);
const typed = (text: string) => ({ text, cursor: text.length, marks: [] });
const NOWHERE = { commands: [], cwd: { now: '/' }, home: '/' };

/** Texts for which an expression that looks right takes quadratic time: minutes for these. */
const CASES: readonly (readonly [string, () => unknown])[] = [
  ['a summary of carriage returns', () => readReply({ text: `a${long('\r')}b`, stop_reason: 'end' }, asTokens(LENGTH))],
  ['blanks behind a bracket', () => asData(`<${long('\t')}`)],
  ['quotation marks that are not closed', () => parseQuery(long('«“„'))],
  ['a word of signs', () => previousShellWord(typed(long('\t')))],
  ['blanks before the cursor', () => previousWord(typed(long(' ')))],
  ['mentions without an end', () => complete(`"${long("'@'")}\n `, NOWHERE)],
  ['an argument of blanks', () => complete(`/x\n${long('\t')}\n\n`, NOWHERE)],
  ['a mention of signs', () => mentionsIn(`@a${'!'.repeat(1000)} `.repeat(500), [])],
  ['fences that do not end', () => commandOf(`${long('~~~\n')}~~~~~x`)],
  ['blanks in a command', () => visibleText(long(`${' '.repeat(32)}a`))],
  ['what begins a key', () => secretMask(['sk-proj-0123456789abcdef'])(long('SG.sk-eyJ_eyJ-----BEGIN '))],
];

describe('half a million characters take no longer than reading them', () => {
  it.each(CASES)('%s', async (_what, read) => {
    const begin = performance.now();
    await read();
    expect(performance.now() - begin).toBeLessThan(5000);
  });
});
