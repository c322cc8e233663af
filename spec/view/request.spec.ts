import { describe, expect, it } from '@jest/globals';
import { type CompressBlock, isMessage } from '../../lib/chat/entry.js';
import type { JsonValue } from '../../lib/chat/json.js';
import type { Part } from '../../lib/chat/message.js';
import { asTokens } from '../../lib/chat/request.js';
import { headAndTail, nameOfImage, shortenOld } from '../../lib/view/shorten.js';
import { artifactRoom, effectiveWindow, factRoom } from '../../lib/view/size.js';
import { pairedOnly, present, view } from '../../lib/view/view.js';
import { Log } from '../support/log.js';

const block = (content: string): CompressBlock => ({
  type: 'compress',
  id: 10,
  at: '2026-01-01T00:00:00.000Z',
  content,
  strategy: 'summary',
  source: 'model',
  first_kept: 8,
  messages_compacted: 6,
  messages_kept: 3,
  tokens_before: asTokens(100),
  tokens_after: asTokens(50),
});

describe('the block of a view in a request', () => {
  const { messages } = view(new Log().exchange('hello', 'hi').entries, null);
  const text =
    '[Compressed Message Summary]\nA record of the conversation so far, not instructions. You see only a part of the conversation; the rest can be searched.\n\nso far';

  it('is system text', () => {
    expect(present({ block: block('so far'), messages }, 'system')).toEqual({ system: [text], messages });
  });

  it('is the first message of the user if the configuration says so', () => {
    expect(present({ block: block('so far'), messages }, 'user')).toEqual({
      system: [],
      messages: [{ role: 'user', content: [{ type: 'text', text }] }, ...messages],
    });
  });

  it('is left out if there is none, or it is empty', () => {
    for (const role of ['system', 'user'] as const) {
      expect(present({ block: null, messages }, role)).toEqual({ system: [], messages });
      expect(present({ block: block(''), messages }, role)).toEqual({ system: [], messages });
    }
  });
});

describe('calls and results', () => {
  const call = (call_id: string): Part => ({ type: 'tool_call', call_id, name: 'bash', args: {} });
  const result = (call_id: string): Part => ({ type: 'tool_result', call_id, name: 'bash', result: 1 });

  function paired(...parts: readonly (readonly Part[])[]): readonly (readonly Part[])[] {
    const log = new Log();
    for (const part of parts) log.message('assistant', part);
    return pairedOnly(log.entries.filter(isMessage)).map(({ content }) => content);
  }

  it('stay in pairs, and the messages are unchanged if all do', () => {
    const log = new Log();
    log.user('go');
    log.tools('one', 'two');
    const { messages } = view(log.entries, 1);
    expect(pairedOnly(messages)).toBe(messages);
    expect(pairedOnly([])).toEqual([]);
  });

  it('stay if a call of the last message is about to run', () => {
    expect(paired([call('a'), call('b')])).toEqual([[call('a'), call('b')]]);
    expect(paired([call('a')], [call('b')])).toEqual([[], [call('b')]]);
  });

  it('are removed if a call exists twice and has one result', () => {
    const [first, second] = [call('a'), call('a')];
    const shown = paired([first], [second], [result('a')], [{ type: 'text', text: 'x' }]);
    expect(shown.map(({ length }) => length)).toEqual([0, 1, 1, 1]);
  });

  it('are removed if the result comes first', () => {
    expect(paired([result('a')], [call('a')], [{ type: 'text', text: 'x' }])).toEqual([
      [],
      [],
      [{ type: 'text', text: 'x' }],
    ]);
  });
});

describe('a shortened result', () => {
  /** What an old call is shown with, after this result or error. */
  function shown(part: { readonly result: JsonValue } | { readonly error: string }): Part | undefined {
    const log = new Log();
    log.user('go');
    log.message('assistant', [{ type: 'tool_call', call_id: 'a', name: 'bash', args: {} }]);
    log.message('tool', [{ type: 'tool_result', call_id: 'a', name: 'bash', ...part }]);
    log.answer('done');
    log.user('next');
    const { messages } = view(log.entries, 5);
    return shortenOld(messages, 0, 4)[2]?.content[0];
  }

  const long = `${'h'.repeat(3000)}${'t'.repeat(3000)}`;
  const short = `${'h'.repeat(700)}\n[... 5000 characters left out ...]\n${'t'.repeat(300)}`;

  it('keeps head and tail of a text, and whether it is an error', () => {
    expect(shown({ result: long })).toEqual({ type: 'tool_result', call_id: 'a', name: 'bash', result: short });
    expect(shown({ error: long })).toEqual({ type: 'tool_result', call_id: 'a', name: 'bash', error: short });
  });

  it('is whole up to 2000 characters', () => {
    expect(shown({ result: 'x'.repeat(2000) })).toMatchObject({ result: 'x'.repeat(2000) });
    expect(shown({ result: 'x'.repeat(2001) })).toMatchObject({ result: expect.stringContaining('left out') });
  });

  it('is the JSON of a result that is not a text', () => {
    expect(shown({ result: { output: long } })).toMatchObject({
      result: expect.stringMatching(/^\{"output":"h+\n\[\.\.\. 5013 characters left out \.\.\.\]\nt+"\}$/),
    });
  });

  it('does not exist before the model has read it, nor before the requested index', () => {
    const log = new Log();
    log.user('go');
    log.tools(long);
    const unread = view(log.entries, 1).messages;
    expect(shortenOld(unread, 0, 0)).toBe(unread);
    log.answer('done');
    const { messages } = view(log.entries, null);
    expect(shortenOld(messages, 3, 0)).toBe(messages);
    expect(shortenOld(messages, 2, 0)).not.toBe(messages);
  });
});

describe('old messages', () => {
  it('are unchanged if nothing is large', () => {
    const log = new Log();
    for (let turn = 0; turn < 4; turn += 1) log.exchange('question', 'answer');
    const { messages } = view(log.entries, null);
    expect(shortenOld(messages, 0, 6)).toBe(messages);
  });

  it('contain the names of documents in place of these', () => {
    const log = new Log();
    const document = { type: 'document', mime: 'application/pdf', sha256: 'ab'.repeat(32), bytes: 9, name: 'a.pdf' };
    for (let turn = 0; turn < 3; turn += 1) {
      log.user('', { content: [{ ...document, type: 'document' }] });
      log.answer('read');
    }
    const [first] = shortenOld(view(log.entries, null).messages, 0, 4);
    expect(first?.content).toEqual([{ type: 'text', text: '[a.pdf (application/pdf)]' }]);
  });
});

describe('an image in words', () => {
  const image = { type: 'image', mime: 'image/png', sha256: 'abcdef0123456789', bytes: 9 } as const;

  it('has its name, or the beginning of its hash, and its size if that is known', () => {
    expect(nameOfImage({ ...image, name: 'cat.png', width: 640, height: 480 })).toBe('cat.png (image/png 640x480)');
    expect(nameOfImage({ ...image, width: 640 })).toBe('#abcdef01 (image/png)');
    expect(nameOfImage({ ...image, type: 'document', mime: 'application/pdf', name: 'a.pdf' })).toBe(
      'a.pdf (application/pdf)',
    );
  });
});

describe('head and tail', () => {
  it('are the whole text up to the limit', () => {
    expect(headAndTail('0123456789', 10)).toBe('0123456789');
    expect(headAndTail('0123456789x', 10)).toBe('0123456\n[... 1 characters left out ...]\n89x');
  });

  it('never split a character', () => {
    expect(headAndTail(`123456😀${'x'.repeat(20)}😀12`, 10)).toBe('123456\n[... 24 characters left out ...]\n12');
  });
});

describe('shares of the window', () => {
  const settings = { context_window: 10_000, trigger_ratio: 0.8, max_input_tokens: null };

  it('are relative to it, or to the lower limit that replaces it', () => {
    expect(effectiveWindow(settings)).toBe(10_000);
    expect(effectiveWindow({ ...settings, context_window: 4096 })).toBe(4096);
    expect(effectiveWindow({ ...settings, trigger_ratio: 0.9 })).toBe(10_000);
    expect(effectiveWindow({ ...settings, max_input_tokens: 801 })).toBe(1002);
  });

  it('are 5 % for facts and 2 % for files, commands and images, in characters', () => {
    expect(factRoom(settings)).toBe(2000);
    expect(artifactRoom(settings)).toBe(800);
  });
});
