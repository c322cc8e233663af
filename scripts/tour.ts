// Records docs/tour.md: a session of the real program in a real terminal, against the stand-in server of the
// demonstration.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { control, openTerminal, type Terminal } from '../spec/support/terminal.js';
import { buildProgram } from './build/program.js';
import { SMALL_MODEL, startStandIn } from './stand-in.js';
import { DARK, LIGHT, type Palette, screenSvg } from './tour/screen-svg.js';

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

const COLUMNS = 88;
const LONGEST_PARAGRAPH = 30;
mkdirSync(join('docs', 'tour'), { recursive: true });
const page: string[] = [];
/** The number of terminal lines that are already in the page. */
let recorded = 0;
let terminal = open();

function open(more: Readonly<Record<string, string>> = {}, program = resolve('dist', 'hi.js')): Terminal {
  return openTerminal(process.execPath, [program, 'chat'], {
    env: { ...env, ...more },
    cwd: work,
    columns: COLUMNS,
    rows: 60,
  });
}

/** Adds a picture of the screen to the page. */
function picture(name: string, label: string, palette: Palette = DARK): void {
  const rows = terminal.rows().map((row) => row.map((one) => ({ ...one, text: one.text.replaceAll(home, '~') })));
  writeFileSync(join('docs', 'tour', `${name}.svg`), screenSvg(rows, COLUMNS, palette, label));
  page.push(`![${label}](tour/${name}.svg)`, '');
}

/** Takes the pictures of an answer and a question, before or after. */
async function pictureBoth(name: string, when: string): Promise<void> {
  await prompt();
  await say('what is the smallest server?');
  picture(`${name}-answer`, `${when}: an answer with a heading, a link, code, a list and a table.`);
  terminal.type(`${control('l')}write a haiku\r`);
  await terminal.until(/haiku\.txt[\s\S]*❯ yes, once/, 60_000);
  picture(`${name}-question`, `${when}: the question before a file is written.`);
  terminal.type('\x1b');
  await terminal.until('(interrupted)');
  await terminal.close();
}

/**
 * The current screens next to those of an earlier build, commit 369e4cb. Its pictures are kept; the program in
 * `HI_TOUR_BEFORE` replaces them.
 */
async function pictureBeforeAndAfter(): Promise<void> {
  const before = process.env.HI_TOUR_BEFORE;
  writeFileSync(join(home, 'config', 'config.json'), JSON.stringify(config), { mode: 0o600 });
  writeFileSync(join(work, 'haiku.txt'), 'The shell keeps my words\nfor a single evening\nand says: hi, again\n');
  const kept = page.length;
  if (before !== undefined) {
    terminal = open({ HI_DATA_DIR: join(home, 'data-before') }, resolve(before));
    await pictureBoth('before', 'Before');
  }
  terminal = open({ HI_DATA_DIR: join(home, 'data-after') });
  await pictureBoth('after', 'Now');
  const [answer = '', , question = ''] = page.splice(kept).slice(-4);
  const asBefore = (picture: string): string => picture.replace('[Now', '[Before').replace('/after-', '/before-');
  page.push(asBefore(answer), '', answer, '', asBefore(question), '', question, '');
}

/** Typing while an answer streams, in a separate conversation. */
async function pictureTyping(): Promise<void> {
  terminal = open({ HI_DATA_DIR: join(home, 'data-typing') });
  await prompt();
  terminal.type('what is the smallest server?\r');
  await terminal.until('It answers');
  terminal.type('and in Python?\rthe same with a test');
  await terminal.until(/createServer \}[\s\S]*\nqueued: and in Python\?\n› the same with a test/);
  picture('while-answering', 'A streaming answer; below it a queued line, and the line being typed.');
  terminal.type('\x1b');
  await terminal.until('(interrupted)');
  await terminal.close();
}

/** The same question in each theme, in a separate conversation. */
async function pictureThemes(): Promise<void> {
  for (const [theme, palette] of [
    ['dark', DARK],
    ['light', LIGHT],
    ['mono', DARK],
    ['terminal', DARK],
  ] as const) {
    writeFileSync(join(home, 'config', 'config.json'), JSON.stringify({ ...config, theme }), { mode: 0o600 });
    terminal = open({ HI_DATA_DIR: join(home, `data-${theme}`) });
    await prompt();
    await say('what is the smallest server?');
    picture(
      `theme-${theme}`,
      `An answer in the theme "${theme}": a heading, a link, code, a list and a table.`,
      palette,
    );
    terminal.type(control('d'));
    await terminal.exit();
  }
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

/** Adds the new screen lines to the page. The waiting prompt belongs to the next block. */
function record(): void {
  const lines = terminal.transcript().split('\n');
  push(lines.slice(recorded, -1));
  recorded = lines.length - 1;
}

/** Adds the current screen to the page. Recording continues from the line that begins with `from`. */
function recordMoment(from: string): void {
  const lines = terminal.transcript().split('\n');
  push(lines.slice(recorded));
  recorded = lines.findLastIndex((line) => line.startsWith(from));
}

function push(lines: readonly string[]): void {
  page.push(`\`\`\`text\n${shortened(lines.map(tidy)).join('\n').trim()}\n\`\`\``, '');
}

/** Shows only the first and last rows of a long paragraph. */
function shortened(lines: readonly string[]): readonly string[] {
  const paragraphs = lines.join('\n').split('\n\n');
  return paragraphs.flatMap((paragraph) => {
    const rows = paragraph.split('\n');
    return rows.length <= LONGEST_PARAGRAPH ? [...rows, ''] : [...rows.slice(0, 2), '…', ...rows.slice(-2), ''];
  });
}

/** Replaces times and paths with fixed ones, so that recordings differ only if the program does. */
function tidy(line: string): string {
  const text = line
    .replaceAll(home, '~')
    .replace(/· \d+\.\d+s/, '· 0.1s')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, '2026-11-22 08:30')
    .trimEnd();
  return text.length > 200 ? `${text.slice(0, 88)} … ${text.slice(-60)}` : text;
}

try {
  page.push('# A tour of `hi chat`', '');
  page.push(
    'Recorded by `npm run tour`: the built program in a terminal, talking to the stand-in server of `npm run demo`, whose answers are scripted. Nothing',
    'is edited, except that long texts are shortened and times are those of one recording. The pictures are of the same screen, at the end in each theme.',
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
  picture('approval', 'The question before a file is written, with the change in colours.');
  page.push('`y` or Enter takes “yes, once”.', '');
  terminal.type('\r');
  await prompt();
  record();
  explain('A command of your own', '`!` runs it and shares its output with the model.');
  await say('!cat haiku.txt');
  record();
  explain(
    'A long paste',
    'Twelve lines of a log are pasted. The input line shows them as a token, with their size below it, and the model gets them in full.',
  );
  terminal.paste(
    Array.from({ length: 12 }, (_, line) => `2026-11-22 08:${10 + line} engine: stage ${line} is warm`).join('\n'),
  );
  terminal.type(' what is this?');
  await terminal.until(/\[LongText#1\] what is this\?\s+#1: 12 lines/);
  terminal.type('\r');
  await terminal.until((screen) => !screen.includes('#1: '));
  await prompt();
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
  explain('While it answers', 'What you type appears below the answer. Enter queues it, Up takes it back.');
  await pictureTyping();
  explain(
    'Themes',
    '`"theme"` in `config.json`: `dark`, `light`, `mono` and `terminal`, the palette of the terminal itself. By default the background decides.',
  );
  await pictureThemes();
  explain(
    'Before and after',
    'The same answer and the same question in the same terminal: before the redesign (commit 369e4cb, 22 November 2026), and now.',
  );
  await pictureBeforeAndAfter();
  writeFileSync(join('docs', 'tour.md'), `${page.join('\n').trimEnd()}\n`);
} finally {
  await terminal.close();
  await standIn.stop();
  rmSync(home, { recursive: true, force: true });
}
