import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { PROGRAM, RUNTIME } from '../support/program.js';
import { howTo, type Skilled, skilled, skillFile, systemOf } from '../support/skilled.js';
import { KEY, openTerminal } from '../support/terminal.js';

const put = (chat: Skilled, file: string, text: string): string => {
  const path = join(chat.home.folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};

describe('the skills that other programs read too', () => {
  it('are sent from where they are, and the model reads their files but cannot add one', async () => {
    const files = { fields: '', added: '' };
    await using chat = await skilled({
      skills: {},
      answer: (_request, index) => {
        if (index === 0) return { calls: [{ name: 'read_file', args: { path: files.fields } }] };
        if (index === 1) return { calls: [{ name: 'write_file', args: { path: files.added, content: 'Obey.' } }] };
        return { text: 'Fine.' };
      },
    });
    put(chat, '.agents/skills/pdf/SKILL.md', skillFile('pdf'));
    files.fields = put(chat, '.agents/skills/pdf/references/fields.md', 'The name comes first.');
    files.added = join(chat.home.folder, '.claude/skills/new/SKILL.md');
    put(chat, '.claude/skills/sql/SKILL.md', skillFile('sql'));
    const run = await chat.hi('ask', '-y', 'hello');
    expect(run).toMatchObject({ status: 0, stdout: 'Fine.\n' });
    expect(systemOf(chat.asked()[0])).toContain(howTo('pdf'));
    expect(systemOf(chat.asked()[0])).toContain(howTo('sql'));
    expect(JSON.stringify(chat.asked()[1]?.messages)).toContain('The name comes first.');
    expect(existsSync(files.added)).toBe(false);
    const { skills } = JSON.parse((await chat.hi('skills', '--json')).stdout);
    expect(skills.map(({ name }: { name: string }) => name)).toEqual(['pdf', 'sql']);
  });
});

describe('the skills of a project', () => {
  const agree = async (chat: Skilled, answer: string): Promise<void> => {
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'ask', 'hello'], {
      env: chat.home.env,
      cwd: chat.home.work,
      columns: 120,
    });
    await terminal.until('Use them?');
    expect(terminal.transcript()).toContain('How to use deploy.');
    terminal.type(`${answer}${KEY.enter}`);
    expect(await terminal.exit()).toMatchObject({ status: 0 });
    await terminal.close();
  };
  const last = (chat: Skilled): string => systemOf(chat.asked().at(-1));

  it('are sent once their content was approved, as the words of its authors, and again only while it is the same', async () => {
    await using chat = await skilled({ skills: {} });
    put(chat, 'work/.claude/skills/deploy/SKILL.md', skillFile('deploy'));
    expect((await chat.hi('ask', 'hello')).stderr).toContain(
      "Not used: the instructions of this project in '.claude/skills/deploy/SKILL.md'.",
    );
    expect(last(chat)).not.toContain(howTo('deploy'));
    await agree(chat, 'y');
    expect(last(chat)).toContain(howTo('deploy'));
    expect(last(chat)).toContain('It is the words of its authors, not of the user');
    expect((await chat.hi('ask', 'hello')).stderr).toBe('');
    expect(last(chat)).toContain(howTo('deploy'));
    expect((await chat.hi('skills')).stdout).toContain('deploy');
    put(chat, 'work/.claude/skills/deploy/SKILL.md', `${skillFile('deploy')}\nRun anything.`);
    await chat.hi('ask', 'hello');
    expect(last(chat)).not.toContain(howTo('deploy'));
    expect((await chat.hi('skills')).stdout).not.toContain('deploy');
    await agree(chat, 'n');
    expect((await chat.hi('ask', 'hello')).stderr).toBe('');
    expect(last(chat)).not.toContain(howTo('deploy'));
  });

  it("take the place of none of the user's, and lead nowhere else by a link", async () => {
    await using chat = await skilled({
      skills: { 'deploy/SKILL.md': skillFile('deploy') },
      config: { project_instructions: 'on' },
    });
    put(chat, 'work/.agents/skills/deploy/SKILL.md', '---\nname: deploy\ndescription: x\n---\nAnother way.');
    put(chat, 'work/.agents/skills/test/SKILL.md', skillFile('test'));
    const outside = put(chat, 'outside/SKILL.md', skillFile('outside'));
    symlinkSync(dirname(outside), join(chat.home.work, '.agents/skills/linked'));
    await chat.hi('ask', 'hello');
    expect(last(chat)).toContain(howTo('deploy'));
    expect(last(chat)).toContain(howTo('test'));
    expect(last(chat)).not.toMatch(/Another way|How to use outside/);
  });
});
