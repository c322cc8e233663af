import { describe, expect, it } from '@jest/globals';
import { judgeWith } from '../support/judging.js';

describe('a sed script', () => {
  it.each(["sed -n 'w out' x", "sed 's/a/b/w out' x", 'sed -e p -e "/x/Wout" x', "sed '$!{p;w ./out' -e '}' x"])(
    'that writes a file is a write of it: %s',
    async (command) => {
      expect((await judgeWith({ allow: ['bash(sed:*)'] })(command)).decision).toBe('ask');
      expect((await judgeWith({ allow: ['bash'], deny: ['write_file(out)'] })(command)).decision).toBe('deny');
      const free = judgeWith({ allow: ['bash(sed:*)', 'write_file(out)'] });
      expect(await free(command)).toMatchObject({ decision: 'allow' });
    },
  );

  it.each(["sed '1rout' x", "sed 'R out' x", "sed '/x/r ./out' x"])(
    'that reads a file is a read of it: %s',
    async (command) => {
      expect(await judgeWith({ allow: ['bash(sed:*)'] })(command)).toMatchObject({ decision: 'allow' });
      expect((await judgeWith({ allow: ['bash'], deny: ['read_file(out)'] })(command)).decision).toBe('deny');
    },
  );

  it.each(["sed 'r/etc/shadow' x", "sed '1r.env' x", "sed -n 'w.git/hooks/x' x"])(
    'that names a private place is asked about: %s',
    async (command) => {
      expect((await judgeWith({ allow: ['bash(sed:*)', 'write_file'] })(command)).decision).toBe('ask');
    },
  );

  it('may name its output devices', async () => {
    expect(await judgeWith({ allow: ['bash(sed:*)'] })("sed 'w /dev/stdout' x")).toMatchObject({ decision: 'allow' });
  });

  it.each(['sed 1e x', 'sed s/a/b/e x', 'sed -f script x', "sed 'kx' x"])(
    'that runs something, or cannot be read, is asked about whatever prefix is allowed: %s',
    async (command) => {
      const verdict = await judgeWith({ allow: ['bash(sed:*)'] })(command);
      expect(verdict).toMatchObject({ decision: 'ask', rule: null });
      expect(await judgeWith({ allow: [`bash(${command})`] })(command)).toMatchObject({ decision: 'allow' });
    },
  );

  it('is shown with the commands that it runs', async () => {
    const judge = judgeWith({ allow: ['bash(sed:*)'] });
    expect(await judge("sed '1e rm x' y")).toMatchObject({ reason: "its script runs rm x: sed '1e rm x' y" });
  });
});
