import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { loadSkills } from '../../../lib/skills/load.js';
import { folderWith, skillFile } from '../support.js';

const load = async (files: Readonly<Record<string, string | Uint8Array>>) => loadSkills(folderWith(files), null);

describe('the skills of a folder', () => {
  it('are its Markdown files, named after the files', async () => {
    const { skills, warnings } = await load({
      'translator.md': '# Translator\n\nTranslates texts.',
      'notes.txt': 'no',
    });
    expect(skills).toMatchObject([{ name: 'translator', description: 'Translates texts.', folder: null, bytes: 31 }]);
    expect(warnings).toEqual([]);
  });

  it('are its folders with a SKILL.md, with name and description from the frontmatter', async () => {
    const { skills, warnings } = await load({
      'pdf/SKILL.md': skillFile('pdf', 'Fills in PDF forms.'),
      'pdf/references/fields.md': 'beside it',
      'drafts/todo.txt': 'not a skill',
    });
    expect(skills).toMatchObject([{ name: 'pdf', description: 'Fills in PDF forms.' }]);
    expect(skills[0]?.folder).toMatch(/pdf$/);
    expect(warnings).toEqual([]);
  });

  it('are none if the folder does not exist', async () => {
    expect(await loadSkills(join(folderWith({}), 'absent'), null)).toEqual({ skills: [], warnings: [] });
  });

  it('are sorted by name', async () => {
    const { skills } = await load({ 'b.md': 'b', 'c/SKILL.md': skillFile('c', 'c'), 'a.md': 'a' });
    expect(skills.map((skill) => skill.name)).toEqual(['a', 'b', 'c']);
  });

  it('get keywords and priority from the frontmatter or its metadata, and headings outside code', async () => {
    const { skills } = await load({
      'k8s.md':
        '---\nkeywords: [kubernetes, pods]\nmetadata:\n  priority: 2\n  tags: cluster, helm\n---\n# Pods\n```\n# no\n```\n## Logs ##\n',
    });
    expect(skills).toMatchObject([{ priority: 2, stems: ' k8s | kubern pod cluste helm | pod | pod log ' }]);
  });

  it('may contain a byte order mark and CRLF', async () => {
    const { skills, warnings } = await load({ 'win.md': '\uFEFF---\r\ndescription: From Windows\r\n---\r\n# T\r\n' });
    expect(skills).toMatchObject([{ description: 'From Windows', bytes: 45 }]);
    expect(warnings).toEqual([]);
  });

  it('may have a frontmatter longer than the first block that is read', async () => {
    const { skills, warnings } = await load({
      'long.md': `---\nnotes: ${'x'.repeat(20_000)}\ndescription: Here\n---\nBody`,
    });
    expect(skills).toMatchObject([{ description: 'Here' }]);
    expect(warnings).toEqual([]);
  });

  it('may be in a folder that is a link', async () => {
    const folder = folderWith({ 'real/git.md': 'Git.' });
    symlinkSync(join(folder, 'real'), join(folder, 'link'));
    expect((await loadSkills(join(folder, 'link'), null)).skills).toMatchObject([{ name: 'git' }]);
  });
});

describe('a broken skill', () => {
  const GOOD = { 'good.md': 'Good.' };

  /** Loads one broken file beside a good one. */
  async function broken(file: string, content: string | Uint8Array) {
    const { skills, warnings } = await load({ ...GOOD, [file]: content });
    expect(skills.map((skill) => skill.name)).toContain('good');
    expect(warnings.map((warning) => warning.path).every((path) => path.endsWith(file))).toBe(true);
    return { names: skills.map((skill) => skill.name), reasons: warnings.map((warning) => warning.reason) };
  }

  it('with broken frontmatter is read line by line, with a warning that names the line', async () => {
    const { skills, warnings } = await load({ 'a.md': '---\nname: a\ndescription: Use when: it rains\n---\nText' });
    expect(skills).toMatchObject([{ name: 'a', description: 'Use when: it rains' }]);
    expect(warnings).toMatchObject([{ reason: expect.stringMatching(/^line 3: the frontmatter is not valid YAML/) }]);
  });

  it('with frontmatter that is never closed is text, with a warning', async () => {
    const { names, reasons } = await broken('a.md', '---\nname: a\n\n# Text');
    expect(names).toEqual(['a', 'good']);
    expect(reasons).toEqual(['line 1: the frontmatter that begins here is not closed by "---"']);
  });

  it('with frontmatter that is a list is read without it, with a warning', async () => {
    const { names, reasons } = await broken('a.md', '---\n- a\n- b\n---\nText');
    expect(names).toEqual(['a', 'good']);
    expect(reasons).toEqual(['line 2: the frontmatter is not a list of "key: value" lines']);
  });

  it('that is binary is left out', async () => {
    const { names, reasons } = await broken('image.md', Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0, 1, 2));
    expect(names).toEqual(['good']);
    expect(reasons).toEqual(['is binary; left out']);
  });

  it('that is not UTF-8 is read, with a warning that names the line', async () => {
    const { names, reasons } = await broken('latin.md', Buffer.from('eins\nzwei f\xFCr drei', 'latin1'));
    expect(names).toEqual(['good', 'latin']);
    expect(reasons).toEqual([expect.stringMatching(/^line 2: is not valid UTF-8/)]);
  });

  it('is not reported for a character that is cut at the end of the first block', async () => {
    const { reasons } = await broken('cjk.md', `a${'漢'.repeat(5000)}`);
    expect(reasons).toEqual([]);
  });

  it('that cannot be read is left out', async () => {
    const folder = folderWith(GOOD);
    symlinkSync('loop.md', join(folder, 'loop.md'));
    symlinkSync('gone', join(folder, 'dangling.md'));
    execFileSync('mkfifo', [join(folder, 'pipe.md')]);
    const { skills, warnings } = await loadSkills(folder, null);
    expect(skills.map((skill) => skill.name)).toEqual(['good']);
    expect(warnings.map((warning) => warning.reason)).toEqual([
      'cannot be read (ENOENT); left out',
      'cannot be read (ELOOP); left out',
      'is not a regular file; left out',
    ]);
  });

  it('whose name is taken is left out, regardless of case', async () => {
    const { skills, warnings } = await load({ 'Git.md': 'one', 'git/SKILL.md': skillFile('git', 'two') });
    expect(skills.map((skill) => skill.name)).toEqual(['Git']);
    expect(warnings).toMatchObject([
      { reason: expect.stringMatching(/^the name 'git' is already used by .*Git\.md; left out$/) },
    ]);
  });

  it('that is empty is left out', async () => {
    expect(await broken('empty.md', '')).toEqual({ names: ['good'], reasons: ['is empty; left out'] });
    expect(await broken('blank.md', ' \n\n')).toEqual({ names: ['good'], reasons: ['has no text; left out'] });
    expect(await broken('bare.md', '---\nname: bare\n---\n')).toEqual({
      names: ['good'],
      reasons: ['has no text; left out'],
    });
  });

  it('that is far too large is left out', async () => {
    const { names, reasons } = await broken('dump.md', 'x'.repeat(1024 * 1024 + 1));
    expect(names).toEqual(['good']);
    expect(reasons).toEqual(['is too large (1048577 bytes; the limit is 1048576); left out']);
  });

  it('whose name tries to leave the folder is left out', async () => {
    const { names, reasons } = await broken('evil/SKILL.md', skillFile('../../etc/passwd', 'evil'));
    expect(names).toEqual(['good']);
    expect(reasons).toEqual(["invalid name '../../etc/passwd': a name cannot be a path; left out"]);
  });

  it('that is a link out of the folder is left out', async () => {
    const outside = folderWith({ 'secret.md': 'secret', 'box/SKILL.md': skillFile('box', 'secret') });
    const folder = folderWith({ ...GOOD, 'inner/notes.txt': '' });
    symlinkSync(join(outside, 'secret.md'), join(folder, 'secret.md'));
    symlinkSync(join(outside, 'box'), join(folder, 'box'));
    symlinkSync(join(outside, 'secret.md'), join(folder, 'inner', 'SKILL.md'));
    const { skills, warnings } = await loadSkills(folder, null);
    expect(skills.map((skill) => skill.name)).toEqual(['good']);
    expect(warnings).toHaveLength(3);
    expect(warnings[0]?.reason).toMatch(/^is a link to a place outside the skills folder/);
  });

  it('that is a link inside the folder is a skill', async () => {
    const folder = folderWith(GOOD);
    symlinkSync('good.md', join(folder, 'alias.md'));
    expect((await loadSkills(folder, null)).skills.map((skill) => skill.name)).toEqual(['alias', 'good']);
  });

  it('whose name differs from its file goes by its file, with a warning', async () => {
    const { names, reasons } = await broken('place/SKILL.md', skillFile('other', 'x'));
    expect(names).toEqual(['good', 'place']);
    expect(reasons).toEqual(["the name 'other' does not match its folder; 'place' is used"]);
  });

  it('without description is described by its first paragraph, with a warning if the format requires one', async () => {
    const { reasons } = await broken('terse/SKILL.md', '# Terse\n\nSays little.');
    expect(reasons).toEqual(['has no description; its first line of text is used']);
  });

  it('causes a warning if the folder itself is a file', async () => {
    const file = join(folderWith({}), 'skills');
    writeFileSync(file, '');
    expect((await loadSkills(file, null)).warnings).toEqual([{ path: file, reason: 'cannot be read (ENOTDIR)' }]);
  });
});

describe('the skills of folders that other programs read too', () => {
  it('are their folders with a SKILL.md, after those of the own folder, and of one name the first', async () => {
    const own = folderWith({ 'git.md': 'My own.' });
    const agents = folderWith({
      'git/SKILL.md': skillFile('git', 'Theirs'),
      'pdf/SKILL.md': skillFile('pdf', 'Forms'),
    });
    const claude = folderWith({
      'pdf/SKILL.md': skillFile('pdf', 'Other'),
      'sql/SKILL.md': skillFile('sql', 'Tables'),
    });
    const { skills, warnings } = await loadSkills(own, null, [agents, claude, join(claude, 'absent')]);
    expect(skills.map(({ name, description }) => [name, description])).toEqual([
      ['git', 'My own.'],
      ['pdf', 'Forms'],
      ['sql', 'Tables'],
    ]);
    expect(warnings).toEqual([]);
  });

  it('are no other files there, which nothing warns about', async () => {
    const shared = folderWith({ 'README.md': 'About.', 'notes/plan.md': 'Not a skill.', 'odd/skill.md': 'Misspelt.' });
    expect(await loadSkills(folderWith({}), null, [shared])).toEqual({ skills: [], warnings: [] });
  });

  it('may be links from one of these folders to another, and to nowhere else', async () => {
    const [agents, claude] = [folderWith({ 'pdf/SKILL.md': skillFile('pdf', 'Forms') }), folderWith({})];
    const outside = folderWith({ 'SKILL.md': skillFile('stray', 'Outside') });
    symlinkSync(join(agents, 'pdf'), join(claude, 'forms'));
    symlinkSync(outside, join(claude, 'stray'));
    const { skills, warnings } = await loadSkills(folderWith({}), null, [claude, agents]);
    expect(skills.map(({ name }) => name)).toEqual(['forms', 'pdf']);
    expect(warnings).toContainEqual({
      path: join(claude, 'stray', 'SKILL.md'),
      reason: expect.stringContaining('outside the skills folder'),
    });
  });
});
