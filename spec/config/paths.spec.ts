import { afterEach, describe, expect, it } from '@jest/globals';
import { findPaths } from '../../lib/config/paths.js';

const FOLDERS = { HI_CONFIG_DIR: '/c', HI_DATA_DIR: '/d', HI_CACHE_DIR: '/e' };
const XDG = ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME'] as const;
const before = XDG.map((name) => [name, process.env[name]] as const);

afterEach(() => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

/** What env-paths reads, on Linux. */
function setXdg(folder: string): void {
  for (const name of XDG) process.env[name] = `${folder}/${name.split('_')[1]?.toLowerCase()}`;
}

describe('the files of hi', () => {
  it('are in the folder of their kind', async () => {
    expect(await findPaths(FOLDERS, null)).toMatchObject({
      config: '/c',
      data: '/d',
      cache: '/e',
      configFile: '/c/config.json',
      skills: '/c/skills',
      commands: '/c/commands',
      history: '/d/history.json.zst',
      index: '/d/recall',
      inputHistory: '/d/input-history.jsonl',
      compressions: '/e/compressions',
      outputs: '/e/outputs',
      knownSkills: '/e/skills.json',
      knownModels: '/e/models.json',
      serverLogins: '/d/mcp-logins',
      warned: '/e/warned.json',
      log: '/e/debug.log',
    });
  });

  it.each(Object.keys(FOLDERS))("are in the system's default folder if %s is not set", async (name) => {
    setXdg('/x');
    const { config, data, cache } = await findPaths({ ...FOLDERS, [name]: undefined }, null);
    const usual = { HI_CONFIG_DIR: '/x/config/hi', HI_DATA_DIR: '/x/data/hi', HI_CACHE_DIR: '/x/cache/hi' };
    expect({ HI_CONFIG_DIR: config, HI_DATA_DIR: data, HI_CACHE_DIR: cache }).toEqual({
      ...FOLDERS,
      [name]: usual[name as keyof typeof usual],
    });
  });

  it.each(Object.keys(FOLDERS))('are refused in a relative folder from %s', async (name) => {
    await expect(findPaths({ ...FOLDERS, [name]: 'data' }, null)).rejects.toMatchObject({
      code: 'config',
      message: `${name} is not an absolute path: 'data'.`,
      hint: expect.stringContaining(`Set ${name} to an absolute path`),
    });
  });

  it('are refused in a relative folder from the system', async () => {
    setXdg('home');
    await expect(findPaths({}, null)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(/^The folder 'home\/config\/hi' is not an absolute path: HOME, or a variable/),
      hint: 'Set HOME, or HI_CONFIG_DIR, HI_DATA_DIR and HI_CACHE_DIR.',
    });
  });

  it('do not depend on the system when all folders are set', async () => {
    setXdg('home');
    await expect(findPaths(FOLDERS, null)).resolves.toMatchObject({ data: '/d' });
  });
});
