import { describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { PROGRAM, RUNTIME } from '../support/program.js';
import { control, KEY, openTerminal } from '../support/terminal.js';

const start = chatDriver();
const dumb = { term: 'dumb' };

describe('hi chat in a dumb terminal', () => {
  it('has a prompt, answers, and sends no escape sequences', async () => {
    const chat = await start((_request, index) => ({ pieces: ['# one\n', `answer ${index}`], delay: 300 }));
    await chat.open(dumb);
    expect(chat.terminal.screen()).toContain('a new conversation');
    await chat.say('abd\x7fc', 'answer 0');
    expect(chat.sent()).toEqual(['abc']);
    await chat.say('more', 'answer 1');
    await chat.say('/nothing', "Unknown command 'nothing'");
    chat.terminal.type(control('d'));
    expect(await chat.terminal.exit()).toMatchObject({ status: 0 });
    expect(chat.terminal.written()).not.toContain('\x1b');
  });

  it('stops the answer with Ctrl-C, and exits with it at the prompt', async () => {
    const chat = await start((_request, index) =>
      index === 0 ? { pieces: ['half ', 'x'], hangAfter: 1 } : { text: 'whole' },
    );
    await chat.open(dumb);
    chat.terminal.type(`go${KEY.enter}`);
    await chat.until('half');
    chat.terminal.type(control('c'));
    await chat.until(/\(interrupted\)\n+hi> *$/);
    await chat.say('again', 'whole');
    chat.terminal.type(control('c'));
    expect(await chat.terminal.exit()).toMatchObject({ status: 130 });
  });

  it('has no menu and no waiting line in hi ask either', async () => {
    const chat = await start((_request, index) =>
      index === 0
        ? { calls: [{ name: 'bash', args: { command: 'touch proof' } }], delay: 300 }
        : { pieces: ['a ', 'pity'], delay: 300 },
    );
    const { env, work } = chat.home;
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'ask', 'go'], { env, cwd: work, term: 'dumb' });
    expect(await terminal.exit()).toMatchObject({ status: 0 });
    expect(terminal.screen()).toMatch(/you\s+cannot\s+be\s+asked\s+here[\s\S]*a pity$/);
    expect(terminal.written()).not.toContain('\x1b');
    await terminal.close();
  });

  it('clears the conversation at /reset with -y, and says what works without it', async () => {
    const chat = await start(() => ({ text: 'well' }));
    await chat.open(dumb);
    await chat.say('go', 'well');
    await chat.say('/reset', /Cannot ask with TERM=dumb[\s\S]*'\/reset -y'/);
    chat.terminal.type(control('d'));
    await chat.terminal.exit();
    await chat.open({ ...dumb, args: ['-y'] });
    await chat.say('/reset', 'Cleared 2 messages');
  });

  it('asks nothing, so that only what a rule allows runs', async () => {
    const chat = await start((_request, index) =>
      index === 0 ? { calls: [{ name: 'bash', args: { command: 'touch proof' } }] } : { text: 'a pity' },
    );
    await chat.open(dumb);
    await chat.say('go', /you\s+cannot\s+be\s+asked\s+here[\s\S]*a pity/);
  });
});
