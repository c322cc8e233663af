import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type Chat, chatDriver } from '../support/chat.js';
import { withToolServer } from '../support/mcp-chat.js';
import { png } from '../support/pictures.js';
import { runProgram } from '../support/program.js';
import { KEY } from '../support/terminal.js';
import type { ToolServer } from '../support/tool-server.js';

const start = chatDriver();

const REVIEW = {
  name: 'review',
  description: 'Reviews a\u200b file',
  arguments: [{ name: 'path', description: 'which one', required: true }, { name: 'style' }],
};
const PICTURE = png(3, 2);
const SCENARIO = {
  prompts: [REVIEW, { name: 'plain' }, { name: 'seen' }],
  resources: [
    { uri: 'memo://today', name: 'today' },
    { uri: 'memo://picture', name: 'picture' },
    { uri: 'memo://large', name: 'large' },
  ],
  templates: [{ uriTemplate: 'memo://by-day/{day}', name: 'by day' }],
  texts: { review: 'Please review\u{e0041} it.', 'memo://today': 'Buy milk.', 'memo://large': 'x'.repeat(21_000_000) },
  contents: { 'memo://picture': { mimeType: 'image/png', blob: PICTURE.toString('base64') } },
  messages: {
    seen: [
      { role: 'user', content: { type: 'image', mimeType: 'image/png', data: PICTURE.toString('base64') } },
      { role: 'assistant', content: { type: 'text', text: 'I see.' } },
    ],
  },
};

let server: ToolServer;

async function opened(more: object = {}): Promise<Chat> {
  const chat = await start((_request, index) => ({ text: `answer ${index}` }));
  server = await withToolServer(chat, SCENARIO, more);
  return chat;
}

const promptsAsked = () => server.requests().filter(({ method }) => method === 'prompts/get');
const text = (chat: Chat, index = -1): string => JSON.stringify(chat.server.requests.at(index)?.messages.at(-1));

describe('a prompt of a server', () => {
  it('is a command of the chat, with completion, help, and arguments by position and by name', async () => {
    const chat = await opened();
    await chat.open({ rows: 80 });
    chat.terminal.type(`/notes:rev${KEY.tab}`);
    await chat.until('hi> /notes:review');
    await chat.say('style=short "my file.txt"', 'answer 0');
    expect(promptsAsked()[0]?.params).toMatchObject({
      name: 'review',
      arguments: { path: 'my file.txt', style: 'short' },
    });
    expect(text(chat)).toContain('<prompt server=\\"notes\\" name=\\"review\\">\\nPlease review it.');
    await chat.say('/help all', /\/notes:review path \[style\] +Reviews a file \(of the server 'notes'\)/);
    await chat.say('/mcp', /notes: 0 tools, 3 prompts, 4 resources/);
    await chat.until('@memo://'.replace('@', '@notes:'));
    await chat.say('/notes:seen', 'answer 1');
    expect(text(chat)).toContain(`data:image/png;base64,${PICTURE.toString('base64')}`);
    expect(text(chat)).toContain('[assistant]\\nI see.');
  });

  it('asks for missing arguments, and refuses unknown ones', async () => {
    const chat = await opened();
    await chat.open();
    chat.terminal.type(`/notes:review${KEY.enter}`);
    await chat.until("The server 'notes' needs for its prompt: path (which one)");
    chat.terminal.type(`a.txt${KEY.enter}`);
    await chat.until('answer 0');
    expect(promptsAsked()[0]?.params?.arguments).toEqual({ path: 'a.txt' });
    await chat.say('/notes:plain more', "/notes:plain takes no more arguments: 'more'.");
    expect(promptsAsked()).toHaveLength(1);
  });

  it("does not replace a command of the user's own, and needs its arguments without a terminal", async () => {
    const chat = await opened();
    mkdirSync(join(chat.home.config, 'commands/notes'), { recursive: true });
    writeFileSync(join(chat.home.config, 'commands/notes/plain.md'), 'My own words.');
    const run = await runProgram(chat.home, ['chat'], { input: '/notes:plain\n/notes:review\n/notes:nothing\n' });
    expect(chat.sent()).toEqual(['My own words.']);
    expect(run.stderr).toContain("/notes:review needs 'path'.");
    expect(run.stderr).toMatch(/Unknown command 'notes:nothing'/);
    expect(promptsAsked()).toEqual([]);
  });
});

describe('a resource of a server', () => {
  it("is attached to a message that names it, with a line about it, and is not the user's words", async () => {
    const chat = await opened();
    await chat.open();
    chat.terminal.type(`see @no${KEY.tab}`);
    await chat.until('see @notes:');
    chat.terminal.type(`memo://to${KEY.tab}`);
    await chat.until('see @notes:memo://today');
    await chat.say('and @notes:memo://picture, and @notes:memo://by-day/monday.', 'answer 0');
    expect(chat.terminal.transcript()).toMatch(/attached notes:memo:\/\/today \(\d+ tokens\), notes:memo:\/\/picture/);
    expect(text(chat)).toContain('<resource server=\\"notes\\" uri=\\"memo://today\\">\\nBuy milk.\\n</resource>');
    expect(text(chat)).toContain('uri=\\"memo://by-day/monday\\"');
    expect(text(chat)).toContain(`data:image/png;base64,${PICTURE.toString('base64')}`);
    const [message] = chat.stored().filter(({ role }) => role === 'user');
    expect(JSON.stringify(message?.content)).toContain('see @notes:memo://today and');
  });

  it('that is too large or cannot be read is refused, and the line returns to the prompt', async () => {
    const chat = await opened();
    await chat.open();
    chat.terminal.type(`see @notes:memo://large now${KEY.enter}`);
    await chat.until("Cannot attach 'notes:memo://large': It has 21 MB, and the limit is 20 MB.");
    await chat.until('hi> see @notes:memo://large now');
    expect(chat.server.requests).toEqual([]);
  });

  it('is attached to the question of hi ask, but not if the @ was piped in', async () => {
    const chat = await opened();
    const run = await runProgram(chat.home, ['ask', 'sum up @notes:memo://today']);
    expect(run).toMatchObject({ status: 0 });
    expect(run.stderr).toMatch(/attached notes:memo:\/\/today \(\d+ tokens\)/);
    expect(text(chat)).toContain('Buy milk.');
    await runProgram(chat.home, ['ask'], { input: 'a mail that says @notes:memo://today' });
    expect(text(chat)).not.toContain('Buy milk.');
    expect(server.requests().filter(({ method }) => method === 'resources/read')).toHaveLength(1);
  });
});
