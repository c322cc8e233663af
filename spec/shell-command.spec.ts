import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { shellCommand } from '../lib/processes.js';

const windows = { platform: 'win32', env: { ComSpec: 'C:\\Windows\\system32\\cmd.exe' } } as const;
const mac = { platform: 'darwin', env: {} } as const;

describe("a user's command line", () => {
  it('is run by /bin/sh, or by the shell that the user chose', () => {
    expect(shellCommand('pass hi | head -1', [], mac)).toEqual({
      file: '/bin/sh',
      args: ['-c', 'pass hi | head -1'],
      options: {},
    });
    expect(shellCommand('ls', [], mac, '/bin/zsh').file).toBe('/bin/zsh');
  });

  it('gets its arguments as one word each, whatever they contain', () => {
    const { file, args } = shellCommand('printf "%s|"', ["it's $HOME", 'a "b"  c'], mac);
    expect(spawnSync(file, args, { encoding: 'utf8' }).stdout).toBe('it\'s $HOME|a "b"  c|');
  });

  it('is run by the command processor on Windows, unchanged', () => {
    expect(shellCommand('code --wait', ['C:\\Users\\Ada L\\message.md'], windows, '/bin/sh')).toEqual({
      file: 'C:\\Windows\\system32\\cmd.exe',
      args: ['/d', '/s', '/c', '"code --wait "C:\\Users\\Ada L\\message.md""'],
      options: { windowsVerbatimArguments: true, windowsHide: true },
    });
    expect(shellCommand('dir', [], { platform: 'win32', env: {} }).file).toBe('cmd.exe');
  });
});
