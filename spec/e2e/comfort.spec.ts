import { describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { control, KEY } from '../support/terminal.js';

/** What a terminal sends when it gains or loses the focus. */
const FOCUS_IN = '\x1b[I';
const FOCUS_OUT = '\x1b[O';

const start = chatDriver();
const QUERY = '\x1b]11;?\x1b\\';
const coded = () => ({ text: 'Use `code` here.\n\n- a point' });

describe('the theme of hi chat', () => {
  it('follows the background colour that the terminal reports, which is not taken for a key', async () => {
    const chat = await start(coded);
    await chat.open();
    expect(chat.terminal.written()).toContain(QUERY);
    await chat.say('one', 'Use');
    expect(chat.terminal.look('code')).toMatchObject({ colour: 6 });
    chat.terminal.type('tw\x1b]11;rgb:ffff/ffff/dddd\x1b\\o');
    await chat.until(/hi> two$/);
    chat.terminal.type(control('l'));
    await chat.until((screen) => screen.trim() === 'hi> two');
    await chat.say('', 'Use');
    expect(chat.terminal.look('code')).toMatchObject({ colour: 23 });
    expect(chat.sent().at(-1)).toBe('two');
  });

  it.each([
    ['light', {}, 23],
    ['dark', {}, 80],
    ['mono', {}, -1],
    ['terminal', {}, 6],
    ['auto', { COLORFGBG: '0;15' }, 23],
    ['auto', { COLORFGBG: '15;default;0' }, 80],
  ] as const)('is %s with %j, and then nothing is asked', async (theme, env, colour) => {
    const chat = await start(coded, { theme });
    await chat.open({ env });
    await chat.say('one', 'Use');
    expect(chat.terminal.look('code')).toMatchObject({ colour });
    expect(chat.terminal.written()).not.toContain(QUERY);
  });

  it('leaves a terminal of 16 colours alone', async () => {
    const chat = await start(coded, { theme: 'light' });
    await chat.open({ term: 'linux' });
    await chat.say('one', 'Use');
    expect(chat.terminal.look('code')).toMatchObject({ colour: 6 });
    // The dark blue of many terminals cannot be read on black.
    expect(chat.terminal.look('- a point')).toMatchObject({ colour: 12 });
    expect(chat.terminal.written()).not.toMatch(/\x1b\](?:2|8|11);/);
  });
});

describe('hi chat', () => {
  it('notifies a user who looks elsewhere, as configured, when an answer took more than ten seconds', async () => {
    const ways = [
      ['auto', {}, FOCUS_OUT, '\x07', '\x1b]9;'],
      ['auto', { TERM_PROGRAM: 'WezTerm' }, FOCUS_OUT, '\x1b]9;hi is waiting for you', '\x07'],
      ['bell', {}, `${FOCUS_OUT}${FOCUS_IN}`, '', '\x07'],
      ['off', {}, FOCUS_OUT, '', '\x07'],
    ] as const;
    // All at once: it is ten seconds of waiting.
    await Promise.all(
      ways.map(async ([notify, env, focus, call, other]) => {
        const delayed = { text: 'done', delay: 10_300 };
        const chat = await start((_request, index) => (index === 1 ? delayed : { text: 'done' }), { notify });
        await chat.open({ env });
        await chat.say('quick', 'done');
        expect(chat.terminal.written()).not.toContain('\x07');
        chat.terminal.type(`slow${KEY.enter}`);
        await chat.until('slow');
        chat.terminal.type(focus);
        await chat.until(/slow\s+done/);
        // The call comes with the prompt.
        await chat.prompt('slow');
        expect(chat.terminal.written()).toContain(call);
        expect(chat.terminal.written()).not.toContain(other);
      }),
    );
  });

  it('sets the window title while it runs and answers, and restores it', async () => {
    const chat = await start(coded);
    await chat.open();
    await chat.say('one', 'Use');
    chat.terminal.type(control('d'));
    await chat.terminal.exit();
    const titles = chat.terminal.written().match(/\x1b\]2;[^\x1b]*|\x1b\[2[23];2t/g);
    expect(titles).toEqual(['\x1b[22;2t', '\x1b]2;hi', '\x1b]2;… hi', '\x1b]2;hi', '\x1b[23;2t']);
  });

  it('keeps the waiting line still without animation', async () => {
    const chat = await start(() => ({ text: 'done', delay: 2500 }), { animation: false });
    await chat.open();
    await chat.say('one', 'done');
    const drawn = chat.terminal.written().match(/\r· scripted · [^\x1b]*/g) ?? [];
    expect(drawn.length).toBeGreaterThan(1);
    expect(drawn.length).toBeLessThan(8);
    expect(chat.terminal.written()).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
  });

  it.each([
    [{ screen_reader: true }, {}],
    [{}, { ACCESSIBLE: '1' }],
  ])(
    'draws nothing twice for a screen reader, says each state in words, and still asks: %j %j',
    async (config, env) => {
      const chat = await start(
        (_request, index) =>
          index === 0
            ? { pieces: ['Let me ', 'look.'], delay: 1500, calls: [{ name: 'bash', args: { command: 'touch x' } }] }
            : { text: '| a | b |\n|---|---|\n| long cell | c |' },
        config,
      );
      await chat.open({ env });
      chat.terminal.type(`first${KEY.enter}`);
      await chat.until(/first\n+waiting: scripted\n+Let me/);
      const before = chat.terminal.written().length;
      chat.terminal.type('next');
      await chat.until('Run this command?');
      const during = chat.terminal.written().slice(before, chat.terminal.written().indexOf('Run this command?'));
      expect(during).not.toMatch(/scripted ·|[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]|next/);
      chat.terminal.type('n');
      await chat.until(/hi> next$/);
      expect(chat.terminal.screen()).toContain('| a | b |\n|---|---|');
    },
  );
});
