import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { openTerminal, type Terminal } from '../support/terminal.js';

/**
 * The clipboard (OSC 52), links (8), notices (9, 99, 777), files and badges of iTerm (1337), the title and its stack,
 * colours, pictures (sixel, kitty's), macros, answers of the terminal, the other screen, the keyboard; in C0 and in C1,
 * ended and not; DEL, a turned direction, a flood of marks.
 */
const SEQUENCES = [
  ...[
    '52;c;cHduZWQ=',
    '8;;http://evil',
    '9;pwned',
    '99;;pwned',
    '777;notify;a;b',
    '1337;File=inline=1:AAAA',
    '0;title',
  ],
  ...['2;title', '4;1;?', '10;?', '7;file:///', '133;A', '633;P;Cwd=/', '51;A'],
].flatMap((text) => [`\x1b]${text}\x07`, `\x1b]${text}\x1b\\`, `\u009d${text}\u009c`]);
const HOSTILE = [
  ...SEQUENCES,
  ...[
    '\x1b[22;0t\x1b[23;0t\x1b[21t',
    '\x1b[2J\x1b[H\x1b[3J',
    '\x1bc\x1b[!p',
    '\x1b[?1049h',
    '\x1b[6n\x1b[c\x1b[>q',
    '\x1b[?1000h',
  ],
  ...[
    '\x1bPq#0;2;0;0;0~-\x1b\\',
    '\x1b_Gf=32,s=1,v=1;AAAA\x1b\\',
    '\x1bP$q"p\x1b\\',
    '\x1bPtmux;\x1b\x1b]52;c;AA\x07\x1b\\',
    '\x1bX x \x1b^',
  ],
  ...[
    '\x1b(0lqk\x0e\x0f',
    '\x1b#8',
    '\x1b[20h\x1b[4h\x1b[12l',
    '\x1b[>4;2m\x1b[=1u',
    '\u009b2J \u0090q~',
    '\x7f\x08\x08\x0b\x0c',
    '\ra\r\n',
  ],
  ...[
    '\u202egnp.exe',
    '\u2066x\u2069\u2028',
    `a${'\u0301'.repeat(3000)}`,
    `${'\u0e47'.repeat(500)}`,
    '\x1b]52;c;never ended',
  ],
].join(' ');

let server: ScriptedServer;
let home: Home;
const terminals: Terminal[] = [];

afterEach(async () => {
  for (const terminal of terminals.splice(0)) await terminal.close();
  await server?.close();
  home?.remove();
});

/** What the program writes to a terminal, with its arguments. */
async function onTerminal(...args: readonly string[]): Promise<string> {
  const env = { ...home.env, PAGER: 'cat', NO_COLOR: '1' };
  const terminal = openTerminal(RUNTIME, [PROGRAM, ...args], { env, cwd: home.work });
  terminals.push(terminal);
  await terminal.exit();
  return terminal.written();
}

/** What a terminal would obey of this, beside what hi itself writes: the waiting line, and the end of a row. */
const obeyed = (written: string): readonly string[] =>
  written
    .replace(/\r(?=[\u2800-\u28ff] )|\r?\x1b\[(?:0?K|0?m|\?25[hl]|\d*[GJ])/g, '')
    .match(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028]|\r(?!\r*\n)|[\u0301\u0e47]{17,}/g) ??
  [];

describe("the model's text", () => {
  it('has no control characters on a terminal in any form of output, and is unchanged in a pipe', async () => {
    server = await startScriptedServer(() => ({ text: HOSTILE }));
    home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
    const piped = await runProgram(home, ['ask', '--raw', 'go']);
    expect(piped.stdout).toBe(HOSTILE);
    for (const args of [
      ['history'],
      ['history', '--md'],
      ['history', '--json'],
      ['history', '--find', 'exe'],
      ['ask', 'go'],
      ['ask', '--json', 'go'],
      ['ask', '-o', 'stream-json', 'go'],
    ]) {
      // What hi itself writes: the waiting line, and the end of a row.
      const written = await onTerminal(...args);
      expect([args, obeyed(written)]).toEqual([args, []]);
      expect(written).toContain('gnp.exe');
    }
  });

  it('has none in a file that a terminal may show later either, and as JSON it is the same text', async () => {
    server = await startScriptedServer(() => ({ text: HOSTILE }));
    home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
    await runProgram(home, ['ask', '--debug', 'go'], {});
    await runProgram(home, ['chat'], { input: '/export a.md\n/export a.json\n' });
    const files: Record<string, string> = {
      md: readFileSync(join(home.work, 'a.md'), 'utf8'),
      json: readFileSync(join(home.work, 'a.json'), 'utf8'),
      debug: readFileSync(join(home.folder, 'cache/debug.log'), 'utf8'),
    };
    for (const args of [[], ['--md'], ['--json'], ['--find', 'exe']])
      files[`history ${args}`] = (await runProgram(home, ['history', ...args])).stdout;
    for (const [what, text] of Object.entries(files)) {
      expect([what, obeyed(text)]).toEqual([what, []]);
      expect(text).toContain('gnp.exe');
    }
    for (const what of ['json', 'history --json'])
      expect(JSON.parse(files[what] ?? '').at(-1).content).toMatchObject([{ text: HOSTILE }]);
  });
});

describe("a tool's result", () => {
  it('has none either: output, errors, names of files and folders, arguments, thinking', async () => {
    const name = HOSTILE.replaceAll('/', '-').replaceAll('\x00', '').slice(0, 120);
    const calls = [
      { name: 'bash', args: { command: 'cat hostile; cat hostile >&2; ls -N; cat in/*; cd in; pwd' } },
      { name: 'bash', args: { command: `: ${HOSTILE}\nexit 3` } },
      { name: 'list_files', args: { path: 'in' } },
      { name: 'read_file', args: { path: `in/${name}` } },
      { name: 'read_file', args: { path: HOSTILE.slice(0, 300) } },
      { name: `x${HOSTILE.slice(0, 50)}`, args: {} },
    ];
    server = await startScriptedServer(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { text: 'done gnp.exe' } : { thinking: HOSTILE, calls },
    );
    home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
    mkdirSync(join(home.work, 'in'));
    home.write('hostile', HOSTILE);
    home.write(`in/${name}`, HOSTILE);
    for (const args of [
      ['ask', '-y', 'go'],
      ['ask', '-y', '--json', 'go'],
      ['ask', '-y', '-o', 'stream-json', 'go'],
      ['ask', '-y', '--debug', 'go'],
      ['history'],
      ['history', '--md'],
      ['history', '--json'],
    ])
      expect([args, obeyed(await onTerminal(...args))]).toEqual([args, []]);
  });
});

describe('text that others put into the files of hi', () => {
  it('has none in any command that shows it', async () => {
    const text = HOSTILE.replace(/\r/g, '');
    server = await startScriptedServer(() => ({ text: HOSTILE, usage: [1000, 10] }));
    home = makeHome({
      provider: 'openai',
      model: `m${text.slice(0, 80)}`,
      api_base: server.base,
      preamble: text,
      headers: { 'x-a': 'b' },
      tools: { permissions: { allow: [`bash(${text.slice(0, 200)})`] } },
    });
    writeFileSync(join(home.config, 'memory.md'), `${text}\nfact gnp.exe\n`);
    mkdirSync(join(home.config, 'skills'));
    writeFileSync(
      join(home.config, 'skills', 'evil.md'),
      `---\nname: evil\ndescription: ${JSON.stringify(text)}\n---\n${text}`,
    );
    await runProgram(home, ['ask', text]);
    const failures: unknown[] = [];
    for (const args of [
      ...[
        ['memory'],
        ['memory', '--json'],
        ['remember', text],
        ['recall', 'exe'],
        ['recall', text],
        ['recall', '--json', 'exe'],
        ['usage'],
        ['usage', '--json'],
      ],
      ...[
        ['status'],
        ['status', '--json'],
        ['skills'],
        ['skills', 'evil'],
        ['config', 'show'],
        ['config', 'check'],
        ['forget', '--dry-run', 'exe'],
      ],
      ...[
        ['history', '--role', 'user'],
        ['history', '--find', text.slice(0, 50)],
        ['nonsense', text],
        ['ask', '--model', text.slice(0, 90), 'x'],
      ],
      ...[
        ['ask', '-f', text.slice(0, 200), 'x'],
        ['ask', '--schema', text, 'x'],
        ['--config', text.slice(0, 90), 'status'],
        ['ask', '--tools', text, 'x'],
      ],
    ]) {
      const found = obeyed(await onTerminal(...args));
      if (found.length > 0) failures.push([args[0], args[1]?.slice(0, 12), found.map((one) => one.slice(0, 3))]);
    }
    expect(JSON.stringify(failures)).toBe('[]');
  }, 120_000);
});
