import { describe, expect, it } from '@jest/globals';
import { commandShell, shellArguments, shellProgram } from '../../../lib/tools/shell/run-shell.js';

const env = { ProgramFiles: 'C:\\Program Files', LOCALAPPDATA: 'C:\\Users\\Ada\\AppData\\Local' };

describe('bash', () => {
  it('is found by its absolute path', () => {
    expect(shellProgram('bash', { platform: 'darwin', env, isProgram: () => true })).toMatch(/^\/.*\/bash$/);
    expect(shellArguments('bash', 'ls', 'darwin')).toEqual([
      '--noprofile',
      '--norc',
      '-c',
      "trap 'pwd -P >&3' EXIT; ls",
    ]);
    expect(shellArguments('sh', 'ls', 'linux')).toEqual(['-c', "trap 'pwd -P >&3' EXIT; ls"]);
  });

  it.each(['C:\\Program Files\\Git\\bin\\bash.exe', 'C:\\Users\\Ada\\AppData\\Local\\Programs\\Git\\bin\\bash.exe'])(
    'is that of Git for Windows there: %s',
    (place) => {
      expect(shellProgram('bash', { platform: 'win32', env, isProgram: (path) => path === place })).toBe(place);
    },
  );

  it('is searched for in PATH if Git is not installed', () => {
    expect(shellProgram('bash', { platform: 'win32', env: {}, isProgram: () => false })).toBe('bash');
  });

  it('is replaced by sh only if PATH has no bash but a sh', () => {
    const shell = (...there: readonly string[]) =>
      commandShell({ PATH: '/one:relative:/two' }, { platform: 'linux', isProgram: (path) => there.includes(path) });
    expect(shell('/one/sh', '/two/bash')).toBe('bash');
    expect(shell('/two/sh', 'relative/bash')).toBe('sh');
    expect(shell()).toBe('bash');
  });

  it('is searched for first where it usually is, if PATH contains that folder, and only once in each', () => {
    const looked: string[] = [];
    const shell = (PATH: string, there: string) =>
      commandShell(
        { PATH },
        {
          platform: 'linux',
          isProgram: (path) => {
            looked.push(path);
            return path === there;
          },
        },
      );
    expect([shell('/one:/two:/one:/usr/bin:/bin', '/usr/bin/bash'), looked.splice(0)]).toEqual([
      'bash',
      ['/usr/bin/bash'],
    ]);
    expect([shell('/one:/one:/two', '/bin/bash'), looked.splice(0)]).toEqual([
      'bash',
      ['/one/bash', '/two/bash', '/one/sh', '/two/sh'],
    ]);
    expect([shell('/one:/bin', '/one/sh'), looked]).toEqual(['sh', ['/bin/bash', '/one/bash', '/bin/sh', '/one/sh']]);
  });

  it('reports its folder on Windows in the form that other programs use', () => {
    expect(shellArguments('bash', 'ls', 'win32').at(-1)).toBe("trap 'pwd -W >&3' EXIT; ls");
  });
});
