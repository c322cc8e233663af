import { describe, expect, it } from '@jest/globals';
import { type Chat, chatDriver } from '../support/chat.js';
import { filesWith } from '../support/forgetting.js';
import { runProgram } from '../support/program.js';
import { prose } from '../support/prose.js';
import type { Reply, SentRequest } from '../support/scripted-server.js';
import { KEY } from '../support/terminal.js';

const open = chatDriver();
const SECRET = 'zanthoxylum';
const ANIMALS = ['heron', 'lynx', 'badger', 'marmot', 'osprey', 'walrus'];

const textOf = ({ messages }: SentRequest): string => JSON.stringify(messages.at(-1)?.content);

/** Says what the last line asks for: a long text, a search, or that it was heard. */
function answer(request: SentRequest, index: number): Reply {
  const last = textOf(request);
  if (last.includes('write much')) return { text: `${prose(9000, index)} end ${index}.` };
  if (last.includes('search for the vault') && request.messages.at(-1)?.role === 'user')
    return { calls: [{ name: 'recall', args: { query: 'vault' } }] };
  return { text: `ACK ${index}.` };
}

const hi = async (chat: Chat, ...args: readonly string[]) => await runProgram(chat.home, args);

/** A conversation with a secret in it, and a chat that is open on it. */
async function withSecret(args: readonly string[] = []): Promise<Chat> {
  const chat = await open(answer);
  for (const [index, animal] of ANIMALS.entries()) {
    await hi(chat, 'ask', `the ${animal} is number ${index}`);
    if (index === 1) await hi(chat, 'ask', `the vault word is ${SECRET}`);
  }
  await chat.open({ args });
  return chat;
}

const requestsWith = (chat: Chat, from: number): number =>
  chat.server.requests.slice(from).filter((request) => JSON.stringify(request).includes(SECRET)).length;

describe('what another hi forgets', () => {
  it.each([[SECRET], ['#5 #6']])('is not found or sent by a chat that had searched: %s', async (what) => {
    const chat = await withSecret();
    await chat.say('/find vault', SECRET);
    expect((await hi(chat, 'forget', '-y', what)).status).toBe(0);
    const from = chat.server.requests.length;
    await chat.say('/find vault', 'No message contains');
    await chat.say('search for the vault', /ACK \d+\.\s+hi>/);
    expect(requestsWith(chat, from)).toBe(0);
    expect(filesWith(chat.home, SECRET)).toEqual([]);
  });

  it('leaves a search that finds the right messages', async () => {
    const chat = await withSecret();
    await chat.say('/find vault', SECRET);
    await hi(chat, 'forget', '-y', SECRET);
    await chat.say('write much', /end \d+\.\s+hi>/);
    await chat.say('/find heron', 'is number 0');
    for (const [index, animal] of ANIMALS.entries()) {
      expect((await hi(chat, 'recall', animal, '-n', '1')).stdout).toContain(`the ${animal} is number ${index}`);
    }
    expect(filesWith(chat.home, SECRET)).toEqual([]);
  });

  it.each([
    ['off the record', [], '/off'],
    ['in a chat that keeps nothing', ['-n'], 'hello'],
  ])('is not sent %s', async (_, args, first) => {
    const chat = await withSecret(args);
    await chat.say(first, /hi( off)?>/);
    await chat.say('my own words', /ACK \d+\./);
    await hi(chat, 'forget', '-y', SECRET);
    const from = chat.server.requests.length;
    await chat.say('and more', /ACK \d+\./);
    expect(chat.server.requests.length).toBe(from + 1);
    expect(requestsWith(chat, from)).toBe(0);
    expect(chat.sent()).toEqual(expect.arrayContaining(['my own words', 'the heron is number 0']));
    await hi(chat, 'forget', '-y', '#1');
    await chat.say('and again', /ACK \d+\./);
    expect(JSON.stringify(chat.sent())).not.toContain('heron');
    expect(chat.sent()).toEqual(expect.arrayContaining(['my own words', 'and more', 'the lynx is number 1']));
  });

  it.each([[SECRET], ['#5 #6']])('leaves no summary that was being written: %s', async (what) => {
    const record = `=== SUMMARY ===\nThey named animals, and ${SECRET}.\n`;
    let forgotten = -1;
    const chat: Chat = await open(async (request, index) => {
      if (!JSON.stringify(request.messages).includes('<conversation>')) return answer(request, index);
      if (forgotten < 0) {
        expect((await hi(chat, 'forget', '-y', what)).status).toBe(0);
        forgotten = index;
      }
      return { text: record };
    });
    for (const [index, animal] of ANIMALS.entries()) {
      if (index === 2) await hi(chat, 'ask', `the vault word is ${SECRET}`);
      await hi(chat, 'ask', `the ${animal} is here. ${prose(600, index)}`);
    }
    expect((await hi(chat, 'compact')).stderr).toContain('forgot a part of the conversation');
    expect(filesWith(chat.home, SECRET)).toEqual([]);
    expect(requestsWith(chat, forgotten + 1)).toBe(0);
  });

  it('is not asked again by /retry, and no request is sent again that was made before', async () => {
    let isRefused = true;
    const chat: Chat = await open(async (request, index) => {
      if (!textOf(request).includes(SECRET) || !isRefused) return answer(request, index);
      isRefused = textOf(request).includes('for good');
      if (!isRefused) await hi(chat, 'forget', '-y', 'number 0');
      return isRefused ? { status: 400, error: { message: 'No.' } } : { status: 503, headers: { 'retry-after': '0' } };
    });
    await hi(chat, 'ask', 'the heron is number 0');
    await chat.open();
    await chat.say(`${SECRET} for good`, 'No.');
    expect((await hi(chat, 'forget', '-y', SECRET)).status).toBe(0);
    const from = chat.server.requests.length;
    chat.terminal.type(`/retry${KEY.enter}`);
    await chat.until(/forgotten\. The turn before it: #1 · the heron is number 0\. Ask it again\?/);
    await chat.say('n', 'Nothing was asked.');
    expect(chat.server.requests.length).toBe(from);
    isRefused = true;
    await chat.say(`${SECRET} again`, /ACK \d+\.\s+hi>/);
    expect(JSON.stringify(chat.sent())).not.toContain('heron');
  });

  it('does not come back with a passage that was recalled for a running turn', async () => {
    const chat: Chat = await open(
      async (request, index) => {
        if (!textOf(request).includes('remember the vault')) return answer(request, index);
        expect(textOf(request)).toContain(SECRET);
        expect((await hi(chat, 'forget', '-y', '#1 #2')).status).toBe(0);
        return { text: `ACK ${index}.` };
      },
      { compaction: { strategy: 'truncate', keep_ratio: 0.1 } },
    );
    await hi(chat, 'ask', `the vault word of the old lighthouse is ${SECRET}`);
    for (const animal of ANIMALS) await hi(chat, 'ask', `the ${animal} is here`);
    await hi(chat, 'compact', '--strategy', 'truncate');
    await chat.open();
    await chat.say('do you remember the vault word of the old lighthouse?', /ACK \d+\.\s+hi>/);
    const from = chat.server.requests.length;
    await chat.say('and more', /ACK \d+\.\s+hi>/);
    expect(requestsWith(chat, from)).toBe(0);
    expect(filesWith(chat.home, SECRET)).toEqual([]);
    expect(chat.stored().filter((entry) => JSON.stringify(entry).includes('do you remember'))).toHaveLength(1);
  });
});
