import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { openTerminal, type Terminal } from '../support/terminal.js';

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/tools-and-safety.md'), 'utf8');

const lines = (count: number, line: (number: number) => string): string =>
  Array.from({ length: count }, (_, index) => `${line(index + 1)}\n`).join('');

/** What the model wants to do in each of the screens, by its heading. */
const CALLS = {
  'A long command': {
    name: 'bash',
    args: { command: `set -e\n${lines(130, (number) => `cp "src/page-${number}.html" build/`)}rm -rf ~/backup` },
  },
  'A long file': {
    name: 'write_file',
    args: {
      path: 'package.json',
      content: `{\n  "scripts": { "test": "node check.js" },\n${lines(60, (number) => `  "word${number}": ${number},`)}  "last": 0\n}\n`,
    },
  },
  'A name that reads backwards': {
    name: 'write_file',
    args: { path: 'invoice\u202efdp.exe', content: 'echo hi\u200b\n' },
  },
} as const;

const SCREENS = Object.keys(CALLS).flatMap((what) =>
  (
    [
      [80, 24],
      [40, 12],
    ] as const
  ).map(([columns, rows]) => ({ heading: `${what}, ${columns}×${rows}`, what, columns, rows })),
);

let server: ScriptedServer;
let home: Home;
let terminal: Terminal;

afterEach(async () => {
  await terminal?.close();
  await server?.close();
  home?.remove();
});

describe('the questions in docs/tools-and-safety.md are up to date:', () => {
  it.each(SCREENS)('$heading', async ({ heading, what, columns, rows }) => {
    const call = CALLS[what as keyof typeof CALLS];
    server = await startScriptedServer(() => ({ calls: [call] }));
    // How long its path is decides where rows end.
    home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base }, '/tmp');
    const folder = join(home.folder, 'project');
    mkdirSync(folder);
    terminal = openTerminal(RUNTIME, [PROGRAM, 'ask', 'go'], { env: home.env, cwd: folder, columns, rows });
    await terminal.until(/select$/);
    const shown = new RegExp(`^### ${heading}\n\n\`\`\`text\n([^]*?)\n\`\`\`$`, 'm').exec(PAGE)?.[1];
    expect(terminal.screen().replaceAll(home.folder, '~')).toBe(shown);
  });
});
