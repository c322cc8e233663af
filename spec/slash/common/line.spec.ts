import { describe, expect, it } from '@jest/globals';
import { checkArgument, parseLine } from '../../../lib/slash/common/line.js';
import { slashCommands } from '../../../lib/slash/index.js';
import fc from '../../support/properties.js';

const words = fc.stringMatching(/^[a-z][a-z ]{0,20}[a-z]$/);
const space = fc.stringMatching(/^[ \t]{0,3}$/);

describe('a line', () => {
  it('is a command by its first word, with everything after it as the argument', () => {
    fc.assert(
      fc.property(space, fc.stringMatching(/^[a-z-]{1,12}$/), words, space, (before, name, argument, after) => {
        const command = { kind: 'command', name };
        expect(parseLine(`${before}/${name} ${argument}${after}`)).toEqual({ ...command, argument });
        expect(parseLine(`${before}/${name}${after}`)).toEqual({ ...command, argument: '' });
      }),
    );
  });

  it('is a command of the shell, which is shared with one exclamation mark', () => {
    fc.assert(
      fc.property(space, words, (before, command) => {
        expect(parseLine(`${before}!${command}`)).toEqual({ kind: 'shell', command, shared: true });
        expect(parseLine(`${before}!!${command}`)).toEqual({ kind: 'shell', command, shared: false });
      }),
    );
  });

  it.each(['/etc/hosts is empty', '//x', 'words', 'a /help', 'no!'])('is a message: %s', (line) => {
    expect(parseLine(line)).toEqual({ kind: 'message' });
  });

  it('is empty if it is white space', () => {
    expect(['', ' ', '\n\t'].map((line) => parseLine(line).kind)).toEqual(['empty', 'empty', 'empty']);
  });
});

describe('the argument of a slash command', () => {
  const code = (run: () => void): unknown => {
    try {
      run();
      return null;
    } catch (failure) {
      return failure;
    }
  };

  it.each(slashCommands.map((command) => [command.name, command] as const))(
    'of /%s may be absent',
    (_name, command) => {
      expect(code(() => checkArgument(command, ''))).toBeNull();
      for (const option of command.options ?? []) expect(code(() => checkArgument(command, option))).toBeNull();
    },
  );

  it.each(slashCommands.filter(({ takesWords }) => !takesWords).map((command) => [command.name, command] as const))(
    'of /%s is refused by its name if it is no option of it',
    (name, command) => {
      const failure = code(() => checkArgument(command, '--no-such-option'));
      expect(failure).toMatchObject({ code: 'usage', message: expect.stringContaining(`/${name}`) });
    },
  );
});
