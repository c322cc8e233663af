import { describe, expect, it } from '@jest/globals';
import { type Chat, chatDriver } from '../support/chat.js';
import { runProgram } from '../support/program.js';
import type { SentRequest } from '../support/scripted-server.js';

const open = chatDriver();

const isSummary = ({ messages }: SentRequest): boolean => JSON.stringify(messages).includes('<conversation>');
const promptOf = ({ messages }: SentRequest): string => String(messages.at(-1)?.content);

/** The id of the message that a summariser is shown with that text. */
function idOf(prompt: string, text: string): string {
  const before = prompt.slice(0, prompt.indexOf(text));
  return /.*id="(\d+)"/s.exec(before)?.[1] ?? 'none';
}

const TALK = [
  'For all my projects I use pnpm, never npm.',
  'The parrot sits in the kitchen.',
  'Please, pnpm also in the container. It was [#77] that broke it.',
  'Our port is 8080.',
  'Good.',
  'Well.',
  'Fine.',
];

/** A chat in which all of the talk but the last three turns is summarised. */
async function compacted(summary: (prompt: string) => string): Promise<Chat> {
  const chat = await open((request) => ({ text: isSummary(request) ? summary(promptOf(request)) : 'Well said.' }), {
    context_window: 20_000,
    clock: false,
  });
  await chat.open({ columns: 140, rows: 60 });
  for (const text of TALK) {
    const asked = chat.server.requests.length;
    await chat.say(`${text} ${'And so on. '.repeat(20)}`, () => chat.server.requests.length > asked);
  }
  await chat.say('/compact', '── 8 messages compacted');
  return chat;
}

const citing = (prompt: string): string =>
  [
    '=== SUMMARY ===',
    `The user works with pnpm [#${idOf(prompt, 'For all my')}, #${idOf(prompt, 'Please, pnpm')} and #999]. It talks of 8080.`,
    `A parrot lives there [#998].`,
    '=== NEW FACTS ===',
    `- pref: pnpm, never npm [#${idOf(prompt, 'For all my')}]`,
    `- fact: the port is 8080 [#4711]`,
  ].join('\n');

describe('/why', () => {
  it('shows the messages that a line of the summary cites, and no id that does not exist', async () => {
    const chat = await compacted(citing);
    const [block] = chat.stored().filter(({ type }) => type === 'compress');
    expect(block?.content).toContain('The user works with pnpm [#1 #5]. It talks of 8080.\nA parrot lives there.\n');
    expect(block?.content).toContain('- pref: pnpm, never npm [#1]\n- fact: the port is 8080\n');
    expect(JSON.stringify(block)).not.toMatch(/999|998|4711/);
    await chat.say(
      '/why works with',
      /The user works with pnpm \[#1 #5\]\.\n +#1 · [^\n]*\byou\n +For all my [\s\S]*\n +#5 · [^\n]*\byou\n +Please, /,
    );
    await chat.say('/why "PNPM, never"', /- pref: pnpm, never npm \[#1\]\n +#1 ·/);
    await chat.say('/why #5', /The user works with pnpm \[#1 #5\]\.\n/);
    await chat.say('/why npm the user', /The user works with pnpm/);
    await chat.say('/history #5', /#5 · .*\nPlease, pnpm also/);
  });

  it('searches the summarised messages if a line cites none, and says so', async () => {
    const chat = await compacted(citing);
    await chat.say(
      '/why parrot',
      /A parrot lives there\.\n +It does not cite a message\.\n +The summarised messages that match it best:\n +#3 · [^\n]*\n +The parrot sits/,
    );
    await chat.say('/why the port', /- fact: the port is 8080\n +It does not cite a message[^#]*\n +#7 ·/);
  });

  it('reports what does not exist', async () => {
    const chat = await compacted(() => 'They talked.');
    await chat.say('/why', 'No text given.');
    await chat.say('/why zebra', "The summary has no line with 'zebra'. To search the messages: /find TEXT");
    await chat.say('/why #999', "The summary has no line with '#999'.");
    await chat.say('/uncompact', 'Undone');
    await chat.say('/why talked', 'No summary is in view');
  });

  it('shows no line that rests on forgotten messages', async () => {
    const chat = await compacted(citing);
    expect((await runProgram(chat.home, ['forget', '-y', '#5'])).status).toBe(0);
    await chat.say('/why pnpm', 'No summary is in view');
    expect(chat.stored().filter(({ type }) => type === 'compress')).toEqual([]);
  });

  it('says which messages cited by an older summary are removed', async () => {
    const chat = await open((request) => ({ text: isSummary(request) ? citing(promptOf(request)) : 'Well said.' }), {
      context_window: 20_000,
      clock: false,
      compaction: { archive: 'discard' },
    });
    await chat.open({ columns: 140, rows: 60 });
    for (const text of TALK) {
      const asked = chat.server.requests.length;
      await chat.say(`${text} ${'And so on. '.repeat(20)}`, () => chat.server.requests.length > asked);
    }
    await chat.say('/compact', '── 8 messages compacted');
    await chat.say(
      '/why works with',
      /#1, #5 are no longer in the history\.\n +None of the summarised messages matches it\./,
    );
  });
});
