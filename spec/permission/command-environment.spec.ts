import { describe, expect, it } from '@jest/globals';
import { commandEnvironment } from '../../lib/permission/environment.js';

const KEY = 'sk-Zq8wErTy1uIoP2aSdF3g';

const ENV = {
  PATH: '/usr/bin',
  HOME: '/home/ann',
  LC_ALL: 'C.UTF-8',
  https_proxy: 'http://proxy:8080',
  HTTP_PROXY: 'http://ann:pass@proxy:8080',
  OPENAI_API_KEY: KEY,
  EDITOR: `vim --key=${KEY}`,
  MY_SETTING: '1',
  GOPATH: undefined,
  BASH_ENV: '/tmp/run-me',
  IFS: 'x',
  TERM: 'xterm',
};

describe('the environment of a command', () => {
  it('contains the usual variables, without keys and credentials, and without a terminal', () => {
    expect(commandEnvironment(ENV, [KEY])).toEqual({
      PATH: '/usr/bin',
      HOME: '/home/ann',
      LC_ALL: 'C.UTF-8',
      https_proxy: 'http://proxy:8080',
      TERM: 'dumb',
      GIT_TERMINAL_PROMPT: '0',
    });
  });

  it('contains what programs need on Windows, where names have no case', () => {
    const env = {
      Path: 'C:\\x',
      SystemRoot: 'C:\\Windows',
      'ProgramFiles(x86)': 'C:\\p',
      AppData: 'C:\\a',
      MY_SETTING: '1',
    };
    expect(commandEnvironment(env, [], [], 'win32')).toEqual({
      PATH: 'C:\\x',
      SystemRoot: 'C:\\Windows',
      'ProgramFiles(x86)': 'C:\\p',
      AppData: 'C:\\a',
      TERM: 'dumb',
      GIT_TERMINAL_PROMPT: '0',
    });
    expect(Object.keys(commandEnvironment(env, [], [], 'linux'))).toEqual(['TERM', 'GIT_TERMINAL_PROMPT']);
  });

  it('contains the configured variables, even credentials, but no key', () => {
    const named = ['MY_SETTING', 'HTTP_PROXY', 'OPENAI_API_KEY', 'BASH_ENV'];
    expect(commandEnvironment(ENV, [KEY], named)).toMatchObject({ MY_SETTING: '1', HTTP_PROXY: ENV.HTTP_PROXY });
    for (const name of ['OPENAI_API_KEY', 'BASH_ENV', 'EDITOR'])
      expect(commandEnvironment(ENV, [KEY], named)).not.toHaveProperty(name);
  });

  it("is the user's own for a command of the user, except for what changes how bash parses it", () => {
    const { GOPATH: _, BASH_ENV: __, IFS: ___, ...own } = ENV;
    expect(commandEnvironment(ENV, [KEY], 'all')).toEqual({ ...own, TERM: 'dumb', GIT_TERMINAL_PROMPT: '0' });
  });

  it('keeps a variable that contains a short key by chance, but none that equals it', () => {
    const env = { HOME: '/home/local', USER: 'local' };
    expect(commandEnvironment(env, ['local'])).toEqual({
      HOME: '/home/local',
      TERM: 'dumb',
      GIT_TERMINAL_PROMPT: '0',
    });
  });

  it.each([
    ...[
      'PATH',
      'HOME',
      'USER',
      'TZ',
      'TMPDIR',
      'XDG_CONFIG_HOME',
      'LANG',
      'LC_CTYPE',
      'COLUMNS',
      'EDITOR',
      'DISPLAY',
      'CI',
      'no_proxy',
    ],
    ...[
      'SSL_CERT_FILE',
      'NODE_EXTRA_CA_CERTS',
      'JAVA_HOME',
      'GOPATH',
      'ANDROID_HOME',
      'CARGO_HOME',
      'NODE_ENV',
      'PNPM_HOME',
    ],
    ...[
      'VIRTUAL_ENV',
      'CONDA_PREFIX',
      'GEM_PATH',
      'LD_LIBRARY_PATH',
      'HOMEBREW_PREFIX',
      'NIX_PATH',
      'SYSTEMROOT',
      'WSL_DISTRO_NAME',
    ],
  ])('contains %s, but not a variable whose name only contains that', (name) => {
    const env = { [name]: 'x', [`X${name}`]: 'x', [`${name}1`]: 'x' };
    expect(commandEnvironment(env, ['another'])).toEqual({ [name]: 'x', TERM: 'dumb', GIT_TERMINAL_PROMPT: '0' });
  });

  it.each([
    ...[
      'BASH_ENV',
      'ENV',
      'SHELLOPTS',
      'BASHOPTS',
      'PS4',
      'PROMPT_COMMAND',
      'CDPATH',
      'GLOBIGNORE',
      'IFS',
      'EXECIGNORE',
    ],
    ...['BASH_XTRACEFD', 'BASH_FUNC_ls%%'],
  ])('never contains %s, which bash itself reads', (name) => {
    const env = { [name]: 'x', [`X${name}`]: 'x' };
    expect(commandEnvironment(env, [], 'all')).toMatchObject({ [`X${name}`]: 'x' });
    expect(commandEnvironment(env, [], 'all')).not.toHaveProperty([name]);
  });

  it('contains no variable with any of several secrets', () => {
    const env = { HOME: '/home/first-1', USER: 'second-2', LANG: 'C' };
    expect(Object.keys(commandEnvironment(env, ['first-1', 'second-2'])).sort()).toEqual([
      'GIT_TERMINAL_PROMPT',
      'LANG',
      'TERM',
    ]);
  });
});
