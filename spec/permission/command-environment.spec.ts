import { describe, expect, it } from '@jest/globals';
import { commandEnvironment } from '../../lib/permission/command-environment.js';

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
  it('is the usual variables, without keys and credentials, and without a terminal', () => {
    expect(commandEnvironment(ENV, [KEY])).toEqual({
      PATH: '/usr/bin',
      HOME: '/home/ann',
      LC_ALL: 'C.UTF-8',
      https_proxy: 'http://proxy:8080',
      TERM: 'dumb',
      GIT_TERMINAL_PROMPT: '0',
    });
  });

  it('has the variables that the configuration names, credentials too, but no key', () => {
    const named = ['MY_SETTING', 'HTTP_PROXY', 'OPENAI_API_KEY', 'BASH_ENV'];
    expect(commandEnvironment(ENV, [KEY], named)).toMatchObject({ MY_SETTING: '1', HTTP_PROXY: ENV.HTTP_PROXY });
    for (const name of ['OPENAI_API_KEY', 'BASH_ENV', 'EDITOR'])
      expect(commandEnvironment(ENV, [KEY], named)).not.toHaveProperty(name);
  });

  it("is the user's own for a command of the user, but for what changes how bash reads it", () => {
    const { GOPATH: _, BASH_ENV: __, IFS: ___, ...own } = ENV;
    expect(commandEnvironment(ENV, [KEY], 'all')).toEqual({ ...own, TERM: 'dumb', GIT_TERMINAL_PROMPT: '0' });
  });

  it('keeps a variable that has a short key by chance, and none that is that key', () => {
    const env = { HOME: '/home/local', USER: 'local' };
    expect(commandEnvironment(env, ['local'])).toEqual({
      HOME: '/home/local',
      TERM: 'dumb',
      GIT_TERMINAL_PROMPT: '0',
    });
  });
});
