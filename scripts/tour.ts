// Records docs/tour.md: a session of the real program in a real terminal, against the stand-in server of the demonstration.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { control, openTerminal, type Terminal } from '../spec/support/terminal.js';
import { buildProgram } from './build/program.js';
import { SMALL_MODEL, startStandIn } from './stand-in.js';

await buildProgram();
const standIn = await startStandIn();
const home = mkdtempSync(join(tmpdir(), 'hi-tour-'));
const work = join(home, 'project');
for (const folder of [work, join(home, 'config')]) mkdirSync(folder);
writeFileSync(join(work, 'notes.txt'), 'Buy milk.\nCall Ada about the engine.\n');
const config = {
  provider: 'openai',
  api_base: `${standIn.url}/v1`,
  model: 'stand-in',
  small_model: { model: SMALL_MODEL },
  context_window: 4000,
};
writeFileSync(join(home, 'config', 'config.json'), JSON.stringify(config), { mode: 0o600 });
const env = {
  PATH: process.env.PATH,
  HOME: home,
  HI_CONFIG_DIR: join(home, 'config'),
  HI_DATA_DIR: join(home, 'data'),
  HI_CACHE_DIR: join(home, 'cache'),
};

const page: string[] = [];
/** How many lines of the terminal are in the page already. */
let recorded = 0;
let terminal = open();

function open(): Terminal {
  const hi = resolve('dist', 'hi.js');
  return openTerminal(process.execPath, [hi, 'chat'], { env, cwd: work, columns: 88, rows: 60 });
}

async function prompt(): Promise<void> {
  await terminal.until((screen) => /(?:^|\n)hi(?: \d+%)?> *$/.test(screen), 60_000);
}

/** Types a line and waits until the next prompt. */
async function say(line: string): Promise<void> {
  terminal.type(line);
  await terminal.until((screen) => screen.trimEnd().endsWith(line.trimEnd()));
  terminal.type('\r');
  await terminal.until((screen) => !screen.trimEnd().endsWith(line.trimEnd()));
  await prompt();
}

function explain(title: string, text: string): void {
  page.push(`## ${title}`, '', text, '');
}

/** Adds to the page what appeared on the screen since the last time. The prompt that waits belongs to the next block. */
function record(): void {
  const lines = terminal.transcript().split('\n');
  push(lines.slice(recorded, -1));
  recorded = lines.length - 1;
}

/** Adds what is on the screen right now to the page. Recording continues from the line that begins with `from`. */
function recordMoment(from: string): void {
  const lines = terminal.transcript().split('\n');
  push(lines.slice(recorded));
  recorded = lines.findLastIndex((line) => line.startsWith(from));
}

function push(lines: readonly string[]): void {
  page.push(`\`\`\`text\n${lines.map(tidy).join('\n').trim()}\n\`\`\``, '');
}

/** Fixes times and paths, so that the next recording differs only where the program does. */
function tidy(line: string): string {
  const text = line
    .replaceAll(home, '~')
    .replace(/· \d+\.\d+s/, '· 0.1s')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/, '2026-11-22 08:30 UTC')
    .trimEnd();
  return text.length > 200 ? `${text.slice(0, 88)} … ${text.slice(-60)}` : text;
}

try {
  page.push('# A tour of `hi chat`', '');
  page.push(
    'Recorded by `npm run tour`: the built program in a terminal, talking to the stand-in server of `npm run demo`, whose answers are scripted. Nothing',
    'is edited, except that very long lines are shortened and times are those of one recording. This page shows no colours: in a terminal, marks and',
    'tool lines are dim, headings and emphasis bold, and code is coloured.',
    '',
  );
  await prompt();
  explain('A first question', 'The prompt, a question, the answer as it streams.');
  await say('hello');
  record();
  explain('A tool', 'Reading inside the working folder needs no permission.');
  await say('list the files');
  record();
  explain('A tool that asks first', 'Writing does. The change is shown before it is made.');
  terminal.type('write a haiku\r');
  await terminal.until(/Make this change to [\s\S]*⏎ select/, 60_000);
  recordMoment('? Make this change to');
  page.push('`y` or Enter takes “yes, once”.', '');
  terminal.type('\r');
  await prompt();
  record();
  explain('A command of your own', '`!` runs it and shares its output with the model.');
  await say('!cat haiku.txt');
  record();
  explain(
    'A long paste',
    'Twelve lines of a log are pasted. The input line shows them as a token, and the model gets them in full.',
  );
  terminal.paste(
    Array.from({ length: 12 }, (_, line) => `2026-11-22 08:${10 + line} engine: stage ${line} is warm`).join('\n'),
  );
  await terminal.until('[LongText#1]');
  await say(' what is this?');
  record();
  explain(
    'A conversation that outgrows the window',
    'The window is small here on purpose. When it is more than four fifths full, a summary replaces the older messages before the next request. Nothing is deleted.',
  );
  await say('tell me a long story');
  await say('tell me a long story');
  record();
  await say('hello, are you still there?');
  record();
  await say('/status');
  record();
  explain(
    'Exit and continue',
    'Ctrl-D exits. The next start continues where this one stopped; there is only one conversation.',
  );
  terminal.type(control('d'));
  await terminal.exit();
  terminal = open();
  recorded = 0;
  await prompt();
  await say('hello again');
  record();
  terminal.type(control('d'));
  await terminal.exit();
  writeFileSync(join('docs', 'tour.md'), `${page.join('\n').trimEnd()}\n`);
} finally {
  await terminal.close();
  await standIn.stop();
  rmSync(home, { recursive: true, force: true });
}
