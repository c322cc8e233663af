import { describe, expect, it } from '@jest/globals';
import { bashProgram, withExitFolder } from '../../../lib/tools/shell/bash-program.js';

const env = { ProgramFiles: 'C:\\Program Files', LOCALAPPDATA: 'C:\\Users\\Ada\\AppData\\Local' };

describe('bash', () => {
  it('is found by its name', () => {
    expect(bashProgram({ platform: 'darwin', env, exists: () => true })).toBe('bash');
    expect(withExitFolder('ls', 'darwin')).toBe("trap 'pwd -P >&3' EXIT; ls");
  });

  it.each(['C:\\Program Files\\Git\\bin\\bash.exe', 'C:\\Users\\Ada\\AppData\\Local\\Programs\\Git\\bin\\bash.exe'])(
    'is that of Git for Windows there: %s',
    (place) => {
      expect(bashProgram({ platform: 'win32', env, exists: (path) => path === place })).toBe(place);
    },
  );

  it('is looked for in PATH where Git is not installed', () => {
    expect(bashProgram({ platform: 'win32', env: {}, exists: () => false })).toBe('bash');
  });

  it('tells a folder there that other programs know', () => {
    expect(withExitFolder('ls', 'win32')).toBe("trap 'pwd -W >&3' EXIT; ls");
  });
});
