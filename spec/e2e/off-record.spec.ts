import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { type Home, runProgram } from '../support/program.js';
import type { SentRequest } from '../support/scripted-server.js';
import { howTo, skilled } from '../support/skilled.js';
import { control, KEY } from '../support/terminal.js';

const open = chatDriver();
const SECRET = 'heron-4711';

/** The files of a home that hold a text, compressed ones too. */
function holding(home: Home, text: string): readonly string[] {
  const files = readdirSync(home.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => {
      const bytes = path.endsWith('.zst') ? execFileSync('zstd', ['-dcq', path]) : readFileSync(path);
      return bytes.includes(text);
    });
}

describe('/off', () => {
  it('stores nothing that is said until /on, in any file, and the model has forgotten it then', async () => {
    const record = `=== SUMMARY ===\nThey spoke of ${SECRET}.\n`;
    const chat = await open(
      ({ messages }, index) => {
        if (JSON.stringify(messages).includes('<conversation>')) return { text: record };
        const last = JSON.stringify(messages.at(-1)?.content);
        if (last.includes('draw it'))
          return { calls: [{ name: 'bash', args: { command: `seq 9000; echo ${SECRET}` } }] };
        return { text: last.includes(SECRET) ? `You said ${SECRET}. ${index}` : `Answer ${index}.` };
      },
      { tools: { permissions: { allow: ['bash'] }, output_limit: 500 } },
    );
    await chat.open({ args: ['--debug'] });
    await chat.say('before', 'Answer 0.');
    await chat.say('/off', /Off the record[\s\S]*hi off>/);
    const before = readFileSync(chat.home.historyFile);
    await chat.say(`the bird is ${SECRET}`, `You said ${SECRET}.`);
    expect(chat.sent()).toEqual(expect.arrayContaining(['before', 'Answer 0.']));
    await chat.say('/off', 'already off the record');
    await chat.say('/status', 'messages     2 kept, 4 in context');
    await chat.say(`!echo ${SECRET}`, new RegExp(`${SECRET}\\s+· 11 characters added\\s+hi off>`));
    await chat.say('draw it', /more lines[\s\S]*You said heron-4711\. \d+\s+hi off>/);
    await chat.say(`/remember ${SECRET}`, 'Nothing is kept off the record.');
    await chat.say('/reset', 'Cannot reset off the record.');
    await chat.say(`/find ${SECRET}`, /\d+ messages?\./);
    await chat.say('/compact', 'compacted');
    expect(holding(chat.home, SECRET)).toEqual([]);
    expect(readFileSync(chat.home.historyFile).equals(before)).toBe(true);
    await chat.say('/on', /On the record again\. \d+ messages forgotten\.\s+hi>/);
    await chat.say('after', /Answer \d+\.\s+hi>$/);
    expect(JSON.stringify(chat.server.requests.at(-1)?.messages)).not.toContain(SECRET);
    await chat.say('/find heron', 'No message contains');
    await chat.say('/find after', /after/);
    await chat.say('/on', 'already on the record.');
    chat.terminal.type(control('d'));
    await chat.terminal.exit();
    expect(holding(chat.home, SECRET)).toEqual([]);
    expect(chat.stored().map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect((await runProgram(chat.home, ['recall', SECRET])).stdout).toBe('');
  });

  it('forgets everything when the chat ends or is killed, and keeps what other processes add meanwhile', async () => {
    const chat = await open((_request, index) => ({ text: `Answer ${index}.` }));
    await chat.open();
    await chat.say('before', 'Answer 0.');
    await chat.say('/off', 'hi off>');
    await chat.say(`it is ${SECRET}`, 'Answer 1.');
    await runProgram(chat.home, ['ask', 'elsewhere']);
    await chat.say('/on', '2 messages forgotten');
    await chat.say('and now', 'Answer 3.');
    expect(chat.sent()).toEqual(expect.arrayContaining(['before', 'elsewhere', 'and now']));
    await chat.say('/off', 'hi off>');
    await chat.say(`again ${SECRET}`, 'Answer 4.');
    chat.terminal.signal('SIGKILL');
    await chat.terminal.exit();
    expect(holding(chat.home, SECRET)).toEqual([]);
    expect(chat.stored().filter(({ role }) => role === 'user')).toHaveLength(3);
    await chat.open();
    expect(chat.terminal.screen()).not.toContain(SECRET);
    chat.terminal.type(KEY.up);
    await chat.until(/hi> \/off$/);
  });

  it('changes nothing with --ephemeral, and works without a terminal and without a history', async () => {
    const chat = await open((_request, index) => ({ text: `Answer ${index}.` }));
    const script = await runProgram(chat.home, ['chat'], { input: `/off\n${SECRET}\n/on\n` });
    expect(script.stdout + script.stderr).toContain('2 messages forgotten');
    expect(existsSync(chat.home.historyFile)).toBe(false);
    const { stdout, stderr } = await runProgram(chat.home, ['chat', '--ephemeral'], { input: '/off\n/on\n' });
    expect(stdout + stderr).toContain('Nothing in this chat is kept');
    expect(stdout + stderr).toContain('The chat is already on the record.');
  });

  it('stores no skill that it led to, and asks about each once', async () => {
    const large = `${howTo('git')} ${'An example. '.repeat(1000)}`;
    const answer = ({ model, messages }: SentRequest) => {
      if (model !== 'small') return { text: 'Fine.' };
      return { text: JSON.stringify(messages).includes('shorten instruction files') ? howTo('git') : '["git"]' };
    };
    const config = {
      context_window: 3600,
      tools: { enabled: false },
      skills: { mode: 'matched', matcher: 'llm' },
      small_model: { model: 'small', context_window: 100_000 },
    };
    const place = (home: Home) => join(home.env.HI_CACHE_DIR ?? '', 'compressions');
    await using chat = await skilled({ skills: { 'git.md': large }, config, answer });
    await chat.chat('/off', `the bird is ${SECRET}`, 'and again', '/on');
    const asked = chat.requests.filter(({ model }) => model === 'small');
    expect(asked.filter(({ messages }) => JSON.stringify(messages).includes('shorten instruction'))).toHaveLength(1);
    expect(chat.sent()).toEqual([['git'], ['git']]);
    expect(existsSync(place(chat.home))).toBe(false);
    await chat.ask('on the record');
    expect(readdirSync(place(chat.home))).toHaveLength(2);
  });
});
