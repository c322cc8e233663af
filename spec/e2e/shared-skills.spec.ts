import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { howTo, type Skilled, skilled, skillFile, systemOf } from '../support/skilled.js';

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
