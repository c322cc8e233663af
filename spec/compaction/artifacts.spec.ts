import { describe, expect, it } from '@jest/globals';
import { collect, describe as inWords } from '../../lib/compaction/artifacts.js';
import { NO_ARTIFACTS } from '../../lib/compaction/state.js';
import { Log } from '../support/log.js';

/** The messages of a turn that runs so many commands. */
function turnWith(commands: number) {
  const log = new Log();
  log.user('go');
  for (let command = 0; command < commands; command++) log.tools('done');
  log.answer('ready');
  return log.reloaded().filter((entry) => 'role' in entry);
}

describe('what tools did', () => {
  it('is counted over all passes, not only over the last', () => {
    const first = collect(NO_ARTIFACTS, turnWith(2), 1000);
    const second = collect(first, turnWith(3), 1000);
    expect(inWords(second)).toBe('Commands run: 5');
  });
});
