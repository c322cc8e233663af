import { describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { runProgram } from '../support/program.js';

const open = chatDriver();
const talk = (turn: number): string => `talk ${turn} ${'and so on '.repeat(40)}`;

describe('/uncompact', () => {
  it('restores what compactions replaced, one after another, in every process, and lists what each did', async () => {
    const chat = await open(
      ({ messages }) =>
        JSON.stringify(messages).includes('<conversation>')
          ? { text: '=== SUMMARY ===\nTalk.' }
          : { text: 'Well said.' },
      { context_window: 20_000 },
    );
    await chat.open();
    const ask = async (text: string): Promise<void> => {
      const asked = chat.server.requests.length;
      await chat.say(text, () => chat.server.requests.length > asked);
    };
    const sentTurns = (): readonly string[] =>
      chat.sent().flatMap((content) => /^talk \d+/.exec(String(content))?.[0] ?? []);
    await chat.say('/compactions', 'There are no compactions yet.');
    await chat.say('/uncompact', 'There is no compaction to undo.');
    for (let turn = 1; turn <= 6; turn += 1) await ask(talk(turn));
    await chat.say('/compact', '── 6 messages compacted');
    await ask(talk(7));
    expect(sentTurns()).toEqual(['talk 4', 'talk 5', 'talk 6', 'talk 7']);
    await ask(talk(8));
    await chat.say('/compact', /── \d+ messages compacted[\s\S]*── \d+ messages compacted/);
    await chat.say(
      '/compactions',
      /#13 · \S+ \S+ · 6 messages replaced, 6 kept from #7 on · [\s\S]* · summary, by\s[\s\S]*#18 · /,
    );
    await runProgram(chat.home, ['ask', talk(9)]);
    expect(sentTurns()).toEqual(['talk 6', 'talk 7', 'talk 8', 'talk 9']);
    await chat.say('/status', /compactions {2}2, the last \d/);
    await chat.say('/uncompact', /Undone: 12 messages in view, \d+ tokens\./);
    await chat.say('/status', /compactions {2}1, the last \d/);
    await ask(talk(10));
    const second = ['talk 4', 'talk 5', 'talk 6', 'talk 7', 'talk 8', 'talk 9', 'talk 10'];
    expect(sentTurns()).toEqual(second);
    expect(JSON.stringify(chat.sent())).toContain('Talk.');
    await runProgram(chat.home, ['ask', 'elsewhere']);
    expect(sentTurns()).toEqual(second);
    await chat.say('/uncompact', /Undone: 22 messages/);
    await runProgram(chat.home, ['ask', 'elsewhere']);
    expect(sentTurns()).toEqual(['talk 1', 'talk 2', 'talk 3', ...second]);
    expect(JSON.stringify(chat.sent())).not.toContain('[Compressed');
    await chat.say('/uncompact', 'There is no compaction to undo.');
    await chat.say('/status', /compactions {2}0\n/);
    await chat.say('/compactions', /#13.*undone\n.*#18.*undone/s);
    await chat.say('/compact', /compacted/);
    await ask(talk(11));
    expect(sentTurns().length).toBeLessThan(6);
    const { stdout } = await runProgram(chat.home, ['history']);
    expect(stdout.match(/── compaction undone/g)).toHaveLength(2);
  });

  it('is refused with the sizes if what was replaced does not fit', async () => {
    const chat = await open(() => ({ text: 'word '.repeat(300) }), {
      context_window: 4000,
      compaction: { strategy: 'truncate' },
    });
    await chat.open();
    for (let turn = 1; turn <= 8; turn += 1) {
      const asked = chat.server.requests.length;
      await chat.say(talk(turn), () => chat.server.requests.length > asked);
    }
    const before = chat.stored().length;
    await chat.say(
      '/uncompact',
      /Without the last compaction a request would have (\d+|far more) tokens.*due at\s+3200/s,
    );
    expect(chat.stored()).toHaveLength(before);
  });
});
