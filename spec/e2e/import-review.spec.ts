import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatgptConversation, type Talk } from '../support/exports.js';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { KEY, openTerminal } from '../support/terminal.js';

const WISH = 'Always answer me in British English.';
const ECHO = 'I will always answer in rhymes.';

let home: Home;
const hi = (...args: readonly string[]) => runProgram(home, args);
const memory = (): string => readFileSync(join(home.config, 'memory.md'), 'utf8');

/** Four conversations in which the user says the same, the last one in other letters, and the model something else. */
const talks = (): readonly Talk[] =>
  [1, 2, 3, 4].map((day): Talk => {
    const at = Date.UTC(2025, 2, day, 12) / 1000;
    const wish =
      day === 4 ? `${WISH.toUpperCase()} What about tax? What about tax?` : `Question ${day}. ${WISH} Thanks.`;
    const lines = [
      { role: 'user', text: wish, at },
      { role: 'assistant', text: `${ECHO} Sure.`, at: at + 9 },
    ] as const;
    return { id: `t${day}`, title: '', lines };
  });

beforeEach(async () => {
  home = makeHome(null);
  home.write('conversations.json', JSON.stringify(talks().map((one) => chatgptConversation(one))));
  await hi('import', 'conversations.json');
});

afterEach(() => home.remove());

describe('hi import --review', () => {
  it('proposes what the user said in several conversations, with its evidence, and nothing that the model said', async () => {
    const run = await hi('import', '--review');
    expect(run).toMatchObject({
      status: 0,
      stdout: `${WISH.toUpperCase()}\n  in 4 conversations · #chatgpt:1, 2025-03-01 · #chatgpt:3, 2025-03-02 · #chatgpt:5, 2025-03-03\n`,
    });
    expect(JSON.parse((await hi('import', '--review', '--json')).stdout)).toHaveLength(1);
    expect(await hi('import', '--review', 'conversations.json')).toMatchObject({ status: 2 });
  });

  it("proposes the lines of the user's instructions for other programs, and asks about each once", async () => {
    mkdirSync(join(home.folder, '.claude'));
    writeFileSync(
      join(home.folder, '.claude', 'CLAUDE.md'),
      '# Rules\n\n- Use metric units.\n@other.md\n```sh\nrm -rf build\n```\n- Call me Jo.\n',
    );
    const path = join(home.folder, '.claude', 'CLAUDE.md');
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'import', '--review'], {
      env: home.env,
      cwd: home.work,
      columns: 100,
      rows: 40,
    });
    try {
      for (const [line, answer] of [
        ['line 3', 'y'],
        ['line 8', 'n'],
        ['in 4 conversations', 'y'],
      ] as const) {
        await terminal.until(line);
        await terminal.until(/Always keep this in mind\?[^\n]*\(y\/N\) *$/i);
        terminal.type(`${answer}${KEY.enter}`);
      }
      await terminal.exit();
      expect(terminal.transcript()).toContain(`${path}, line 3`);
      expect(terminal.transcript()).toContain('Kept 2 of 3.');
    } finally {
      await terminal.close();
    }
    expect(memory()).toContain('Use metric units.');
    expect(memory()).toContain(WISH.toUpperCase());
    expect(memory()).not.toMatch(/Call me Jo|rm -rf|other\.md|Rules/);
    expect((await hi('import', '--review')).stderr).toBe('There is nothing new to propose.\n');
  });
});
