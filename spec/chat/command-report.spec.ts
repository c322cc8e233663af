import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { commandIn, commandReport, failedCommandReport } from '../../lib/chat/message.js';

const pieces = fc.constantFrom(
  '<output>',
  '</output>',
  '</output-2>',
  '\n',
  '\n</output>',
  'It did not finish: ',
  'x',
  ' ',
);

describe('the report of a command', () => {
  it('names the command, its output and a status other than 0', () => {
    expect(commandReport('ls', 'a', 0)).toBe('I ran this command myself: ls\n\n<output>\na\n</output>');
    expect(commandReport('ls', '', 2)).toMatch(/<output>\n\n<\/output>\nIts exit status was 2\.$/);
  });

  it('is read back, except for the last newline of the output', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), fc.nat(2), (words, status) => {
        const printed = words.join('');
        const report = commandReport('ls -l', printed, status);
        expect(commandIn(report)).toEqual({ command: 'ls -l', printed: printed.replace(/\n$/, '') });
      }),
    );
    expect(commandIn(failedCommandReport('ls', 'no such command'))).toEqual({
      command: 'ls',
      printed: 'no such command',
    });
  });

  it('is read as earlier versions wrote it', () => {
    const report = 'I ran this command myself: ls\n\n<output>\na </output> b\n\n</output>';
    expect(commandIn(report)).toEqual({ command: 'ls', printed: 'a </output> b\n' });
  });

  it.each(['', 'I ran this command myself: ls', 'ls\n\n<output>\na\n</output>'])(
    'is not any other text: %j',
    (text) => {
      expect(commandIn(text)).toBeNull();
    },
  );
});
