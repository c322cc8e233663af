import { describe, expect, it } from '@jest/globals';
import { makeHome, PROGRAM, RUNTIME } from '../support/program.js';
import { openTerminal } from '../support/terminal.js';

describe('the error with which hi exits', () => {
  it('is wrapped at words on a terminal', async () => {
    const home = makeHome(null);
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'usage', '--by', 'week'], {
      env: home.env,
      cwd: home.work,
      columns: 60,
    });
    await terminal.exit();
    expect(terminal.screen()).toContain("'week' is invalid.\nAllowed choices are day, month, model, server.\n");
    await terminal.close();
    home.remove();
  });
});
