import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatgptConversation, claudeCodeLines, jsonLines, type Talk, zip } from '../support/exports.js';
import { type Home, makeHome, PROGRAM } from '../support/program.js';
import { prose } from '../support/prose.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { KEY, openTerminal, type Terminal } from '../support/terminal.js';
import { openVendorHouse } from '../support/vendor-house.js';

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/import.md'), 'utf8');

let server: ScriptedServer;
let home: Home;
let terminal: Terminal | undefined;

/** Types a command of the page, and answers what it asks. */
async function typed(
  command: string,
  answers: readonly (readonly [question: string, keys: string])[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  expect(PAGE).toContain(command);
  const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
  terminal = openTerminal(process.execPath, [PROGRAM, ...words.slice(1)], {
    ...{ env: { ...home.env, ...env }, cwd: home.folder, columns: 120 },
  });
  for (const [question, keys] of answers) {
    await terminal.until(question);
    terminal.type(keys);
  }
  expect(await terminal.exit()).toMatchObject({ status: 0 });
  const shown = terminal.transcript();
  await terminal.close();
  return shown;
}

const said = (index: number, text: string): Talk => {
  const at = Date.UTC(2025, 2, 1 + index, 12) / 1000;
  const answer = { role: 'assistant', text: `Well. ${prose(150, index)}`, at: at + 5 } as const;
  return { id: `t${index}`, title: '', lines: [{ role: 'user', text, at }, answer] };
};

beforeEach(async () => {
  server = await startScriptedServer(({ messages }) => {
    const [, date, drill] =
      /· (\w+ \d+ Mar 2025)[^\]]*\] [^\\]*?drill ([A-Z]+-\d+)/.exec(JSON.stringify(messages)) ?? [];
    return { text: drill === undefined ? 'I do not know.' : `You ordered the ${drill} on ${date}.` };
  });
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
  const talks = Array.from({ length: 40 }, (_, index) =>
    said(index, index === 9 ? 'I ordered the drill KX-77 for the workshop.' : prose(120, index + 99)),
  );
  mkdirSync(join(home.folder, 'Downloads'));
  const content = JSON.stringify(talks.map((talk) => chatgptConversation(talk)));
  writeFileSync(join(home.folder, 'Downloads', 'chatgpt-export.zip'), zip([{ name: 'conversations.json', content }]));
  const folder = join(home.folder, '.claude', 'projects', '-work');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 's.jsonl'), jsonLines(claudeCodeLines(said(50, 'Fix the parser.'))));
});

afterEach(async () => {
  await terminal?.close();
  await server.close();
  home.remove();
});

describe("a switcher's evening", () => {
  it('goes as docs/import.md tells it: what is here, the export, a question about last year, answered with its date', async () => {
    const here = await typed('hi import', [['Import it?', `y${KEY.enter}`]]);
    expect(here).toContain('Claude Code: 1 conversation, 3 messages, Apr 2025; 3 of it new.');
    expect(await typed('hi import Downloads/chatgpt-export.zip', [])).toContain(
      'ChatGPT: 40 conversations, 80 messages',
    );
    expect(server.requests).toHaveLength(0);
    const answer = await typed('hi ask "Which drill did I order for the workshop?"', [
      ['to any server', KEY.down + KEY.enter],
    ]);
    expect(answer).toContain('1 from chatgpt');
    expect(answer).toContain('You ordered the KX-77 on Mon 10 Mar 2025.');
    expect(server.requests).toHaveLength(1);
  });

  it('begins with what the set-up finds on this machine: skills, commands, MCP servers, instructions, and chats, which it offers to import', async () => {
    const put = (path: string, text: string): void => {
      mkdirSync(join(home.folder, path, '..'), { recursive: true });
      writeFileSync(join(home.folder, path), text);
    };
    put('.claude/skills/pdf/SKILL.md', '---\nname: pdf\ndescription: About PDF.\n---\nHow to.');
    put('.claude/commands/fix.md', 'Fix $ARGUMENTS.');
    put('.claude/CLAUDE.md', 'Answer in short sentences.');
    put('.claude.json', JSON.stringify({ mcpServers: { files: { command: 'files-server' } } }));
    rmSync(home.configFile);
    await using house = await openVendorHouse('openai', { key: 'sk-first', text: 'Welcome.' });
    const answers = [
      ['Which provider', KEY.enter],
      ['API key for OpenAI', `sk-first${KEY.enter}`],
      ['Which model?', KEY.enter],
      ['Import the chats', KEY.enter],
    ] as const;
    const shown = await typed('hi config init', answers, { OPENAI_BASE_URL: house.base });
    expect(shown).toContain('- 1 skill and 1 command of other programs, which work here too');
    expect(shown).toContain("- MCP servers of Claude Code (files); to choose some, run 'hi mcp add --from claude'");
    expect(shown).toContain("run 'hi import --review'");
    expect(shown).toContain('- chats with Claude Code');
    expect(shown).toContain('Claude Code: 1 conversation, 3 messages, Apr 2025; 3 are new.');
  });
});
