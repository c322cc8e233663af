import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Attack, attempt, bash, type Outcome, SECRET } from '../support/attack.js';

/** Whether this system lets bubblewrap make namespaces. Where it does not, nothing of what a rule allows runs. */
const WORKS = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', 'true']).status === 0;

/** A user without the rights of root, who may open every file. */
const NOBODY = 65534;
const AS_NOBODY =
  process.getuid?.() === 0
    ? {
        own: `chown -R ${NOBODY}:${NOBODY} ../..`,
        under: ['setpriv', '--reuid', `${NOBODY}`, '--regid', `${NOBODY}`, '--clear-groups'],
      }
    : { own: 'true', under: [] };

const outcomes: Outcome[] = [];
afterEach(() => {
  for (const { home } of outcomes.splice(0)) home.remove();
});

async function attack(given: Attack): Promise<Outcome> {
  const outcome = await attempt(given);
  outcomes.push(outcome);
  return outcome;
}

const WRITE = { rule: 'bash', write: true };

describe('a folder that can be entered and not listed', () => {
  const before = `chmod 311 closed; ${AS_NOBODY.own}`;
  const options = { under: AS_NOBODY.under };

  it('is empty in the sandbox: whoever knows a name could open it', async () => {
    const { home, results, sent, later } = await attack({
      allow: [WRITE],
      files: {
        'closed/.env': SECRET,
        'x.sh': 'cat closed/.env; chmod 755 closed; cat closed/.env; echo a > closed/.envrc; echo end',
      },
      before,
      calls: [bash('bash x.sh')],
      options,
    });
    expect(sent).not.toContain(SECRET);
    if (WORKS) expect(results[0]).toContain('end\\n');
    later('chmod 755 closed');
    expect(existsSync(join(home.work, 'closed/.envrc'))).toBe(false);
  });

  it('is opened where a command left it, and what others would run in it is renamed', async () => {
    const { home, later } = await attack({
      allow: [WRITE],
      files: { 'x.sh': 'mkdir -p shut/again; touch shut/again/.envrc shut/.envrc; chmod 311 shut/again shut' },
      before: AS_NOBODY.own,
      calls: [bash('bash x.sh')],
      options,
    });
    later('chmod 755 shut shut/again');
    for (const path of ['shut/.envrc', 'shut/again/.envrc']) {
      expect(existsSync(join(home.work, path))).toBe(false);
      expect(existsSync(join(home.work, `${path}.set-aside-1`))).toBe(WORKS);
    }
  });
});

describe('a working folder that the sandbox cannot protect', () => {
  it('lets the built-in list run as where there is no sandbox, and asks for the rest with the reason', async () => {
    const { results, stderr, pwned, sent, home } = await attack({
      allow: [WRITE],
      before: 'mkdir real; ln -s real .husky',
      calls: [bash('cat notes.txt | wc -l'), bash('touch pwned'), bash('cat .env; cat ~/.ssh/id_rsa')],
    });
    expect(results[0]).toContain('"stdout":"2\\n"');
    expect(results.slice(1).join()).not.toContain('exit_code');
    expect(pwned).toEqual([]);
    expect(sent).not.toContain(SECRET);
    if (!WORKS) return;
    const reason = `the sandbox cannot protect '${home.work}/.husky', which is a symbolic link; put the folder itself there`;
    expect(results[1]).toContain(`Not allowed: ${reason}`);
    expect(stderr).toContain(`Not run: bash touch pwned needs approval (${reason}`);
  });
});
