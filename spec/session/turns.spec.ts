import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { isMessage } from '../../lib/chat/entry.js';
import type { ChatEvent } from '../../lib/chat/event.js';
import { type AnswerPart, textOf } from '../../lib/chat/message.js';
import { localMinute } from '../../lib/chat/text.js';
import { HiError } from '../../lib/errors.js';
import { statusText } from '../../lib/session/session-status.js';
import type { SkillLibrary } from '../../lib/skills/skill.js';
import { answer, drain, failure, NO_SKILLS, type Script, type Stage, stage } from '../support/session.js';

let set: Stage;

const say = (text: string) => ({ text, texts: [], attachments: [] });
const never = () => new AbortController().signal;
const stored = () => set.history.entries.filter(isMessage);
const sent = (index: number) => set.requests[index]?.messages.map(({ role, content }) => `${role}: ${textOf(content)}`);
const noticesOf = (events: readonly ChatEvent[]) =>
  events.flatMap((event) => (event.type === 'notice' ? [`${event.level}: ${event.text}`] : []));

const whole: AnswerPart = { type: 'tool_call', call_id: 'whole', name: 'read', args: {} };
const broken: AnswerPart = { type: 'tool_call', call_id: 'broken', name: 'write', args: {}, invalid_args: '{"a' };

/** An answer of these calls that ends for this reason. */
const calls = (stop_reason: 'length' | 'tool_calls', ...parts: readonly AnswerPart[]): Script =>
  async function* () {
    for (const part of parts) yield { type: 'part', part };
    yield { type: 'end', stop_reason, usage: null };
  };

afterEach(() => set?.close());

describe('a message', () => {
  it('has its attachments first, then texts, then what was typed, and no empty part', async () => {
    set = await stage([answer('fine')]);
    const bytes = new Uint8Array([1, 2, 3]);
    const attachments = [{ kind: 'image', mime: 'image/png', bytes, name: 'a.png' } as const];
    await drain(set.session.send({ text: 'look', texts: ['', '<file/>'], attachments }, never()));
    expect(stored()[0]).toMatchObject({
      role: 'user',
      cwd: '/work',
      content: [
        { type: 'image', mime: 'image/png', bytes: 3, name: 'a.png', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
        { type: 'text', text: '<file/>' },
        { type: 'text', text: 'look' },
      ],
    });
    const [attached] = set.requests[0]?.attachments.values() ?? [];
    expect(attached && [...attached]).toEqual([1, 2, 3]);
  });

  it('comes with a notice if an attachment of an earlier one is lost', async () => {
    set = await stage([answer('fine')]);
    const attachments = [{ kind: 'image', mime: 'image/png', bytes: new Uint8Array([1]), name: 'a.png' } as const];
    await drain(set.session.send({ ...say('look'), attachments }, never()));
    const [file = ''] = set.history.totals.files;
    rmSync(join(dirname(file), 'attachments'), { recursive: true });
    expect(noticesOf(await drain(set.session.send(say('and?'), never())))).toEqual([
      expect.stringMatching(/^warning: .*a\.png.* is missing or altered/),
    ]);
    expect(set.requests[1]?.attachments.size).toBe(0);
  });

  it('that is too large by itself is refused without a compaction', async () => {
    set = await stage([answer('fine')], {}, 1000);
    for (const text of ['a', 'b', 'c', 'd']) await drain(set.session.send(say(text), never()));
    await expect(drain(set.session.send(say('x'.repeat(8000)), never()))).rejects.toMatchObject({ code: 'window' });
    expect(await set.session.status(never())).toMatchObject({ compactions: 0, context_messages: 8 });
  });

  it('is the last input until there is another', async () => {
    set = await stage([answer('fine')]);
    expect(await set.session.lastInput()).toBeNull();
    await drain(set.session.send({ ...say('look'), texts: ['<file name="a">\nx\n</file>'] }, never()));
    expect(await set.session.lastInput()).toBe('look');
  });

  it('may be the note of a local command, which the next request includes', async () => {
    set = await stage([answer('fine')]);
    await set.session.note('ls: a.txt');
    await drain(set.session.send(say('and?'), never()));
    expect(sent(0)).toEqual(['user: ls: a.txt', 'user: and?']);
  });
});

describe('an answer', () => {
  it('that is empty is reported', async () => {
    set = await stage([answer('')]);
    const events = await drain(set.session.send(say('x'), never()));
    expect(noticesOf(events)).toEqual(['warning: The model sent an empty answer.']);
    expect(events.at(-1)).toMatchObject({ stop_reason: 'end' });
  });

  it('that the model declined without a reason is reported', async () => {
    set = await stage([
      async function* () {
        yield { type: 'end', stop_reason: 'refusal', usage: null };
      },
    ]);
    expect(noticesOf(await drain(set.session.send(say('x'), never())))).toEqual([
      'warning: The model declined to answer.',
    ]);
  });

  it('that announces tools without a call is the end of the turn', async () => {
    set = await stage([
      async function* () {
        yield { type: 'part', part: { type: 'text', text: 'x' } };
        yield { type: 'end', stop_reason: 'tool_calls', usage: null };
      },
    ]);
    expect((await drain(set.session.send(say('x'), never()))).at(-1)).toMatchObject({ stop_reason: 'end' });
  });
});

describe('calls that cannot be run', () => {
  const results = () =>
    stored()
      .filter(({ role }) => role === 'tool')
      .flatMap(({ content }) => content.map((part) => (part.type === 'tool_result' ? [part.call_id, part.error] : [])));

  it('because of the length limit are answered, and the others run', async () => {
    set = await stage([calls('length', whole, broken), answer('done')]);
    const events = await drain(set.session.send(say('x'), never()));
    expect(set.toolRuns).toEqual(['read']);
    expect(results()).toEqual([
      ['whole', undefined],
      ['broken', expect.stringMatching(/^Not run: your answer reached the output limit/)],
    ]);
    expect(noticesOf(events)).toEqual([expect.stringMatching(/^warning: .* call to write\./)]);
    expect(events.at(-1)).toMatchObject({ stop_reason: 'end', text: 'done' });
  });

  it('because of the length limit twice end the turn', async () => {
    set = await stage([calls('length', whole, broken)]);
    const events = await drain(set.session.send(say('x'), never()));
    expect(set.requests).toHaveLength(2);
    expect(set.toolRuns).toEqual(['read']);
    expect(results().slice(2)).toEqual([
      ['whole', 'Not run: the turn ended because the next call was incomplete.'],
      ['broken', expect.stringMatching(/^Not run: your answer/)],
    ]);
    expect(events.at(-1)).toMatchObject({ stop_reason: 'length' });
    expect(noticesOf(events)[1]).toMatch(/^warning: Stopped: the answer reached/);
  });

  it('because of the length limit in the last round end the turn with that reason', async () => {
    set = await stage([calls('length', broken)], { tools: { maxRounds: 1 } });
    const events = await drain(set.session.send(say('x'), never()));
    expect(set.requests).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ stop_reason: 'length' });
  });

  it('because of their arguments three times in a row end the turn', async () => {
    set = await stage([calls('tool_calls', broken, { ...broken, call_id: 'c2', name: '' })], {
      tools: { maxRounds: 9 },
    });
    const events = await drain(set.session.send(say('x'), never()));
    expect(set.requests).toHaveLength(3);
    expect(noticesOf(events)).toEqual([expect.stringMatching(/Stopped: the model called write, a tool 3 times in a/)]);
    expect(results().at(-1)).toEqual(['c2', 'Not run: the arguments were not a JSON object, 3 times in a row.']);
    expect(events.at(-1)).toMatchObject({ stop_reason: 'tool_limit' });
  });

  it('because of their arguments now and then do not', async () => {
    const bad = calls('tool_calls', broken);
    set = await stage([bad, bad, calls('tool_calls', whole, broken), bad, bad, answer('done')], {
      tools: { maxRounds: 9 },
    });
    expect((await drain(set.session.send(say('x'), never()))).at(-1)).toMatchObject({ text: 'done' });
  });
});

describe('skills', () => {
  const library: SkillLibrary = {
    ...NO_SKILLS,
    select: async () => ({ record: { matched: ['git'], active: ['git'] }, loaded: ['git'], dropped: ['sql'] }),
    texts: async (active, { form }) =>
      active.map((name) => `${name} ${form} ${'x'.repeat(form === 'short' ? 30 : 3000)}`),
    cuts: ['The skill git is cut.'],
    explain: async (name) => `${name}: in`,
  };

  it('are sent with the preamble, and changes are reported', async () => {
    set = await stage([answer('fine')], { skills: async () => library, settings: { preamble: 'Be brief.' } });
    const events = await drain(set.session.send(say('rebase'), never()));
    expect(events).toContainEqual({ type: 'skills', loaded: ['git'], dropped: ['sql'] });
    expect(set.requests[0]?.system).toEqual(['Be brief.', expect.stringMatching(/^git whole/)]);
    expect(stored()[0]).toMatchObject({ skills: { matched: ['git'], active: ['git'] } });
    expect(set.session.skills.active).toEqual(['git']);
    expect(await set.session.skills.explain('git')).toBe('git: in');
  });

  it('are shortened if the window is full, with one notice that this takes a while', async () => {
    set = await stage([answer('fine')], { skills: async () => library }, 800);
    const events = await drain(set.session.send(say('rebase'), never()));
    expect(events).toContainEqual({ type: 'waiting', what: 'shortening skills' });
    expect(noticesOf(events)).toEqual(['warning: The skill git is cut.']);
    expect(set.requests[0]?.system).toEqual([expect.stringMatching(/^git short/)]);
    expect(noticesOf(await drain(set.session.send(say('again'), never())))).toEqual([]);
  });

  it('are shortened if the server finds a request too long that hi does not', async () => {
    const tooLong = new HiError('window', 'Too long.');
    set = await stage([failure(tooLong), answer('fine')], { skills: async () => library });
    await drain(set.session.send(say('rebase'), never()));
    expect(set.requests.map(({ system }) => system[0]?.split(' ')[1])).toEqual(['whole', 'short']);
  });

  it('count in their short form if the window is full', async () => {
    const known: SkillLibrary = {
      ...library,
      texts: async (_, { form }) => [form === 'whole' ? 'x'.repeat(3000) : 'x'],
    };
    set = await stage([answer('fine')], { skills: async () => known }, 800);
    await drain(set.session.send(say('rebase'), never()));
    expect((await set.session.status(never())).context_tokens).toBeLessThan(50);
    await set.close();
    set = await stage([answer('fine')], { skills: async () => known }, 8000);
    await drain(set.session.send(say('rebase'), never()));
    expect((await set.session.status(never())).context_tokens).toBeGreaterThan(750);
  });

  it('are not mentioned if the window is full and there are none', async () => {
    set = await stage([answer('fine')], {}, 1000);
    await drain(set.session.send(say('x'.repeat(2000)), never()));
    const events = await drain(set.session.send(say('x'.repeat(2000)), never()));
    expect(events.filter(({ type }) => type === 'waiting')).toEqual([]);
  });

  it('that leave no room cause one warning', async () => {
    set = await stage([answer('fine')], { settings: { preamble: 'x'.repeat(3400) } }, 1000);
    expect(noticesOf(await drain(set.session.send(say('x'), never())))).toEqual([
      expect.stringMatching(/^warning: The preamble, skills and tools alone take 850 tokens/),
    ]);
    expect(noticesOf(await drain(set.session.send(say('y'), never())))).toEqual([]);
  });
});

describe('a compaction by hand', () => {
  const order = { focus: null, strategy: null };

  it('keeps the newest half, and says in advance what it would do', async () => {
    set = await stage([answer('fine')]);
    for (const text of ['a', 'b', 'c', 'd']) await drain(set.session.send(say(text), never()));
    const preview = await set.session.previewCompaction(order, never());
    expect(preview).toMatchObject({ messages_compacted: 4, messages_kept: 4 });
    const events = await drain(set.session.compact(order, never()));
    expect(events.at(-1)).toMatchObject({ type: 'compact', strategy: 'truncate', messages_compacted: 4 });
    expect(await set.session.status(never())).toMatchObject({
      messages: 8,
      context_messages: 4,
      compactions: 1,
      context_window: 100_000,
    });
    await drain(set.session.send(say('e'), never()));
    expect(sent(4)).toHaveLength(5);
  });

  it('does nothing if there is nothing to do', async () => {
    set = await stage([answer('fine')]);
    expect(await set.session.previewCompaction(order, never())).toBeNull();
    expect(noticesOf(await drain(set.session.compact(order, never())))).toEqual(['info: There is nothing to compact.']);
  });
});

describe('another model', () => {
  it('answers from then on', async () => {
    set = await stage([answer('fine')]);
    await set.session.useModel('other', never());
    await drain(set.session.send(say('x'), never()));
    expect(set.requests[0]?.model).toBe('other');
    expect(set.session.target.model).toBe('other');
  });

  it('may search the web from then on', async () => {
    set = await stage([answer('fine')]);
    expect(set.session.web).toBe('off');
    set.session.useWeb('on');
    expect(set.session.web).toBe('on');
  });
});

describe('a question that failed', () => {
  it('is sent again unchanged, and not the turn before it', async () => {
    set = await stage([answer('one'), failure(new HiError('key', 'No.')), answer('three')]);
    await drain(set.session.send(say('first'), never()));
    await expect(drain(set.session.send(say('second'), never()))).rejects.toMatchObject({ code: 'key' });
    await drain(set.session.retry(null, never()));
    expect(sent(2)).toEqual(['user: first', 'assistant: one', 'user: second']);
    await drain(set.session.retry(null, never()));
    expect(sent(3)).toEqual(['user: first', 'assistant: one', 'user: second']);
  });
});

describe('the status in words', () => {
  const status = {
    messages: 20,
    context_messages: 6,
    estimated_tokens: 900,
    context_tokens: 1000,
    context_window: 8000,
    used: 0.125,
    compactions: 0,
    last_compaction: null,
    files: ['/d/history.json.zst'],
  };

  it('is a line for each number and file', () => {
    expect(statusText(status, 'one/m', 'known')).toBe(
      [
        'model        one/m',
        'messages     20 kept, 6 in context',
        'window       1k of 8k tokens (13%)',
        'compactions  0',
        'file         /d/history.json.zst',
      ].join('\n'),
    );
  });

  it('names the last compaction, and the copy that a reset kept', () => {
    const files = ['/d/history.json.zst', '/d/history.reset.json.zst'];
    const text = statusText(
      { ...status, compactions: 2, last_compaction: '2026-11-22T08:30:15.000Z', files },
      'm',
      'known',
    );
    expect(text).toContain(`compactions  2, the last ${localMinute('2026-11-22T08:30:00Z')}\n`);
    expect(text).toMatch(
      /history\.json\.zst\nfile .*history\.reset\.json\.zst \(before the last reset; hi reset --undo restores it/,
    );
  });
});
