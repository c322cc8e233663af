import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { zstd } from '../support/history.js';
import { elementsOf, forbiddenIn, message, withClass } from '../support/pages.js';
import { png } from '../support/pictures.js';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { KEY, openTerminal, type Terminal } from '../support/terminal.js';

const start = chatDriver();
let home: Home | null = null;
let terminal: Terminal | null = null;

afterEach(async () => {
  await terminal?.close();
  home?.remove();
  terminal = home = null;
});

/** A home with three days of messages. */
async function talked(): Promise<Home> {
  home = makeHome(null);
  const at = (day: number) => ({ at: `2026-11-${day}T09:30:00.000Z` });
  const entries = [
    message(1, 'user', 'one heron', at(20)),
    message(2, 'assistant', 'answer **one**', { turn: 1, stop_reason: 'end', ...at(20) }),
    message(3, 'user', 'two', at(21)),
    message(4, 'assistant', 'answer heron heron', { turn: 3, stop_reason: 'end', ...at(21) }),
    message(5, 'user', '<script>three</script>', at(22)),
    message(6, 'assistant', 'answer three', { turn: 5, stop_reason: 'end', ...at(22) }),
  ];
  mkdirSync(home.data, { mode: 0o700 });
  writeFileSync(home.historyFile, zstd(Buffer.from(JSON.stringify(entries))));
  return home;
}

const bodies = (html: string): readonly string[] => withClass(elementsOf(html), 'body').map(({ text }) => text.trim());

const ALL = ['one heron', 'answer one', 'two', 'answer heron heron', '<script>three</script>', 'answer three'];

describe('hi history --html', () => {
  it('prints a page, or writes it to a file, of the requested messages', async () => {
    const { work, ...rest } = await talked();
    const page = async (...args: readonly string[]) => await runProgram({ work, ...rest }, ['history', ...args]);
    const printed = await page('--html');
    expect(printed).toMatchObject({ status: 0, stderr: '' });
    expect(bodies(printed.stdout)).toEqual(ALL);
    expect(forbiddenIn(elementsOf(printed.stdout))).toEqual([]);
    expect(elementsOf(printed.stdout).find(({ name }) => name === 'style')?.text).toContain('light-dark(');
    expect(await page('--html', 'talk.html')).toEqual({ status: 0, stdout: '', stderr: 'Wrote talk.html.\n' });
    expect(readFileSync(join(work, 'talk.html'), 'utf8').replace(/Exported.*/, '')).toBe(
      printed.stdout.replace(/Exported.*/, ''),
    );
    expect(bodies((await page('--html', '-', '-n', '2')).stdout)).toEqual(ALL.slice(4));
    expect(bodies((await page('--html', '--role', 'user')).stdout)).toEqual([ALL[0], ALL[2], ALL[4]]);
    expect(bodies((await page('--html', '--since', '2026-11-21', '--until', '2026-11-21')).stdout)).toEqual([
      ALL[2],
      ALL[3],
    ]);
    // By days, though the better one is the newer one.
    expect(bodies((await page('--html', '--find', 'heron')).stdout)).toEqual([ALL[0], ALL[3]]);
    expect((await page('--html', '--find', 'no such thing')).stdout).toContain('No messages.');
  });

  it('refuses contradictory options, and overwrites a file only if told to', async () => {
    const { work, ...rest } = await talked();
    const run = async (...args: readonly string[]) => await runProgram({ work, ...rest }, ['history', ...args]);
    expect((await run('--html', '--json')).stderr).toContain('Cannot use --html and --json together.');
    expect((await run('--html', '--md')).stderr).toContain('Cannot use --html and --md together.');
    expect((await run('--html', '--follow')).stderr).toContain('Cannot use --follow and --html together.');
    expect((await run('--html', '')).stderr).toContain('No file name given.');
    writeFileSync(join(work, 'mine.html'), 'mine');
    const refused = await run('--html', 'mine.html');
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('Cannot ask without a terminal: "Overwrite mine.html?"');
    expect(refused.stderr).toContain('add -y');
    expect(readFileSync(join(work, 'mine.html'), 'utf8')).toBe('mine');
    expect(await run('--html', 'mine.html', '-y')).toMatchObject({ status: 0 });
    expect(bodies(readFileSync(join(work, 'mine.html'), 'utf8'))).toEqual(ALL);
    const nowhere = await run('--html', 'no/such/folder.html');
    expect(nowhere.status).toBe(2);
    expect(nowhere.stderr).toContain("no/such' does not exist");
    expect(readdirSync(work).sort()).toEqual(['mine.html']);
  });

  it('asks on a terminal before it overwrites a file, and prints no page there', async () => {
    const { work, env } = await talked();
    const open = (...args: readonly string[]): Terminal => {
      terminal = openTerminal(RUNTIME, [PROGRAM, 'history', ...args], { env, cwd: work });
      return terminal;
    };
    const bare = open('--html');
    await bare.until('A terminal cannot show a page.');
    expect((await bare.exit()).status).toBe(2);
    writeFileSync(join(work, 'mine.html'), 'mine');
    const asked = open('--html', 'mine.html');
    await asked.until('Overwrite mine.html?');
    asked.type(KEY.enter);
    await asked.until('Nothing was written.');
    expect((await asked.exit()).status).toBe(130);
    expect(readFileSync(join(work, 'mine.html'), 'utf8')).toBe('mine');
    const again = open('--html', 'mine.html');
    await again.until('Overwrite mine.html?');
    again.type(`y${KEY.enter}`);
    await again.until('Wrote mine.html.');
    expect(bodies(readFileSync(join(work, 'mine.html'), 'utf8'))).toEqual(ALL);
  });

  it('leaves the old file, and nothing else, when it is stopped', async () => {
    const { work, ...rest } = await talked();
    const entries = Array.from({ length: 40_000 }, (_, place) =>
      message(place + 1, 'user', `*word* ${place} `.repeat(9)),
    );
    writeFileSync(rest.historyFile, zstd(Buffer.from(JSON.stringify(entries))));
    writeFileSync(join(work, 'mine.html'), 'mine');
    const run = await runProgram({ work, ...rest }, ['history', '--html', 'mine.html', '-y'], {
      during: ({ kill }) => {
        const wait = setInterval(() => {
          if (readdirSync(work).length < 2) return;
          clearInterval(wait);
          kill('SIGTERM');
        }, 5);
      },
    });
    expect(run).toMatchObject({ status: 143, stderr: expect.stringContaining('Nothing was written.') });
    expect(readdirSync(work)).toEqual(['mine.html']);
    expect(readFileSync(join(work, 'mine.html'), 'utf8')).toBe('mine');
  });
});

describe('/export FILE.html', () => {
  it('writes the whole conversation with its pictures, undone turns too, and asks before it overwrites a file', async () => {
    const chat = await start(() => ({ text: 'An **answer**.' }));
    writeFileSync(join(chat.home.work, 'red.png'), png(2, 2));
    chat.home.write('talk.html', 'mine');
    await chat.open();
    await chat.say('look at @red.png', /An \*?\*?answer/);
    await chat.say('wrong', /An [\s\S]*An /);
    chat.terminal.type(`/undo${KEY.enter}`);
    await chat.until(/hi[^\n]*> wrong$/);
    chat.terminal.type(`\x15/export talk.html${KEY.enter}`);
    await chat.until('Overwrite talk.html?');
    await chat.say('y', 'Wrote talk.html.');
    const html = readFileSync(join(chat.home.work, 'talk.html'), 'utf8');
    const elements = elementsOf(html);
    expect(bodies(html)).toEqual([expect.stringContaining('look at'), 'An answer.', 'wrong', 'An answer.']);
    expect(elements.filter(({ name }) => name === 'img').map(({ attributes }) => attributes.src)).toEqual([
      `data:image/png;base64,${png(2, 2).toString('base64')}`,
    ]);
    expect(withClass(elements, 'mark').map(({ attributes }) => attributes['data-undone'])).toEqual(['3']);
    expect(forbiddenIn(elements)).toEqual([]);
    await chat.say('/pin #1', 'Pinned #1');
    await chat.say('/export "to share.md" --no-undone', 'Wrote to share.md.');
    const shared = readFileSync(join(chat.home.work, 'to share.md'), 'utf8');
    expect(shared).toMatch(/look at @red\.png[\s\S]*An \*\*answer\*\*\.\n*$/);
    expect(shared).not.toMatch(/wrong|undone|[Pp]inned/);
    const { stdout } = await runProgram(chat.home, ['history', '--json', '--no-undone']);
    expect(JSON.parse(stdout).map(({ id }: { id: number }) => id)).toEqual([1, 2]);
  });
});
