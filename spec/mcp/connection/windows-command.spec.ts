import { describe, expect, it } from '@jest/globals';
import { usualVariables } from '../../../lib/mcp/connection/destination.js';
import { windowsCommand } from '../../../lib/mcp/connection/spawn-server.js';

const FILES = [
  'C:\\Program Files\\nodejs\\npx.CMD',
  'C:\\Program Files\\nodejs\\node.EXE',
  'C:\\tools\\uvx.EXE',
  'C:\\tools\\uvx.CMD',
  'D:\\work\\bin\\server.bat',
  'D:\\work\\npx.CMD',
];
const env = { Path: 'C:\\Program Files\\nodejs;.;;relative;C:\\tools', comspec: 'C:\\Windows\\system32\\cmd.exe' };

const started = (command: string, args: readonly string[] = [], more: Readonly<Record<string, string>> = {}) =>
  windowsCommand(command, args, {
    env: { ...env, ...more },
    cwd: 'D:\\work',
    isFile: (path) => FILES.some((file) => file.toLowerCase() === path.toLowerCase()),
  });

/** The line as `cmd.exe` passes it on, which removes one level of `^`. */
const read = (line: string): string => line.replace(/\^(.)/g, '$1');

describe('the program of a server on Windows', () => {
  it('is started itself if it is a program', () => {
    expect(started('node', ['a b.js'])).toEqual({
      file: 'C:\\Program Files\\nodejs\\node.EXE',
      args: ['a b.js'],
      options: { windowsHide: true },
    });
    expect(started('node.exe').file).toBe('C:\\Program Files\\nodejs\\node.exe');
    expect(started('C:/tools/uvx').file).toBe('C:\\tools\\uvx.EXE');
  });

  it('is started by cmd.exe if it is a .cmd or .bat file, in PATH or by its path', () => {
    const { file, args, options } = started('npx', ['-y', '@scope/server']);
    expect([file, options]).toEqual([env.comspec, { windowsVerbatimArguments: true, windowsHide: true }]);
    expect(args.slice(0, 3)).toEqual(['/d', '/s', '/c']);
    expect(read(read(args[3] ?? ''))).toBe('"C:\\Program Files\\nodejs\\npx.CMD "-y" "@scope/server""');
    expect(read(started('bin\\server').args[3] ?? '')).toBe('"D:\\work\\bin\\server.BAT"');
    expect(read(started('./bin/server.bat').args[3] ?? '')).toBe('"D:\\work\\bin\\server.bat"');
  });

  it('is not that of the working folder, and an extension that comes first wins', () => {
    expect(started('npx').args[3]).toContain('nodejs');
    expect(started('uvx').file).toBe('C:\\tools\\uvx.EXE');
    expect(started('uvx', [], { PATHEXT: '.CMD;.EXE' }).args[3]).toContain('uvx.CMD');
  });

  it('stays as it is where there is none, for the message of the system', () => {
    expect(started('unknown', ['x'])).toMatchObject({ file: 'unknown', args: ['x'] });
  });

  it.each([
    ['a&calc', '"a&calc"'],
    ['"&calc&"', '"\\"&calc&\\""'],
    ['%PATH%', '"%PATH%"'],
    ['ends with \\', '"ends with \\\\"'],
    ['\\"', '"\\\\\\""'],
    ['a\\b', '"a\\b"'],
    ['', '""'],
  ])('gets the argument %j and runs nothing of it', (arg, wanted) => {
    const [, , , line = ''] = started('npx', [arg]).args;
    // What the file gets is still escaped for the line in which it passes it on.
    const [, passed = ''] = read(line.slice(1, -1)).split('npx.CMD ');
    expect(read(passed)).toBe(wanted);
    for (const special of passed.matchAll(/["&%]/g)) expect(passed[special.index - 1]).toBe('^');
  });
});

describe('the environment of a server', () => {
  const given = { Path: 'C:\\x', SystemRoot: 'C:\\Windows', APPDATA: 'C:\\a', API_KEY: 'secret', HOME: '/h' };

  it('has on Windows what programs need there, whatever its case, and no key', () => {
    expect(usualVariables(given, 'win32')).toEqual({ PATH: 'C:\\x', SYSTEMROOT: 'C:\\Windows', APPDATA: 'C:\\a' });
  });

  it('has elsewhere what the SDK passes on', () => {
    expect(usualVariables({ ...given, PATH: '/bin' }, 'linux')).toEqual({ PATH: '/bin', HOME: '/h' });
  });
});
