import { describe, expect, it } from '@jest/globals';
import { Command } from 'commander';
import { addChatOptions, addFormatOptions } from '../../lib/cli/base/add-options.js';
import { NO_OPTIONS } from '../../lib/cli/run.js';

describe('a command line without options', () => {
  it('means the same as when it is parsed', () => {
    expect(addFormatOptions(addChatOptions(new Command())).parse([], { from: 'user' }).opts()).toEqual(NO_OPTIONS);
  });
});
