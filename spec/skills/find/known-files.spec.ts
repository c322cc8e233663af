import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { loadSkills } from '../../../lib/skills/load.js';
import { folderWith, skillFile } from '../support.js';

describe('the cache of skill files', () => {
  const FILES = {
    'skills/git/SKILL.md': skillFile('git', 'Commits.'),
    'skills/odd.md': '---\nname: other\npriority: 2\n---\nOdd.',
    'skills/empty.md': ' \n',
  };

  it('gives the same skills and warnings as reading the files', async () => {
    const folder = folderWith(FILES);
    const [skills, file] = [join(folder, 'skills'), join(folder, 'cache', 'known.json')];
    const unkept = await loadSkills(skills, null);
    expect(await loadSkills(skills, file)).toEqual(unkept);
    const kept = readFileSync(file, 'utf8');
    expect(await loadSkills(skills, file)).toEqual(unkept);
    expect(readFileSync(file, 'utf8')).toBe(kept);
  });

  it('is not used for a file that has changed', async () => {
    const folder = folderWith(FILES);
    const [skills, file] = [join(folder, 'skills'), join(folder, 'known.json')];
    await loadSkills(skills, file);
    const { size } = statSync(join(skills, 'git/SKILL.md'));
    writeFileSync(join(skills, 'git/SKILL.md'), skillFile('git', 'Rebases').padEnd(size).slice(0, size));
    expect((await loadSkills(skills, file)).skills[0]).toMatchObject({ name: 'git', description: 'Rebases' });
  });

  it('is ignored if the file is damaged, of another version, or cannot be written', async () => {
    const folder = folderWith(FILES);
    const [skills, file] = [join(folder, 'skills'), join(folder, 'known.json')];
    const unkept = await loadSkills(skills, null);
    for (const content of ['', '{"a":', '[0]', '[1,null,["x"],[1,2,3,4,5,6]]', 'null']) {
      writeFileSync(file, content);
      expect(await loadSkills(skills, file)).toEqual(unkept);
    }
    const inTheWay = join(folder, 'taken');
    mkdirSync(inTheWay);
    expect(await loadSkills(skills, inTheWay)).toEqual(unkept);
  });

  it('is not written if there are no skills', async () => {
    const folder = folderWith({});
    await loadSkills(folder, join(folder, 'known.json'));
    expect(existsSync(join(folder, 'known.json'))).toBe(false);
  });
});
