import { describe, expect, it } from '@jest/globals';
import type { Message, Part } from '../../../lib/chat/message.js';
import { type Feature, type ModelFacts, mergeFacts, refusedNow } from '../../../lib/chat/model.js';
import { type ChatRequest, schemaKey } from '../../../lib/chat/request.js';
import { type Refused, RequestRefusal } from '../../../lib/providers/common/provider.js';
import { adaptRequest, learntFromAnswer } from '../../../lib/session/refusals/adapt-request.js';
import {
  attachmentsOf,
  contains,
  holdsOldParts,
  lessonOf,
  refusedOptions,
  thinkingOf,
} from '../../../lib/session/refusals/lessons.js';
import { memory } from '../../support/memory.js';
import { chatRequest } from '../../support/providers.js';

const AT = '2026-01-01T00:00:00Z';
const NOW = Date.parse('2026-06-01T00:00:00Z');

const text: Part = { type: 'text', text: 'words' };
const call = (call_id: string): Part => ({ type: 'tool_call', call_id, name: 'bash', args: {} });
const file = (mime: string, digit = 'a'): Part =>
  ({
    ...{ type: mime.startsWith('image') ? 'image' : 'document', mime, sha256: digit.repeat(64), bytes: 1 },
  }) as Part;
const said = (role: Message['role'], content: readonly Part[], more: Partial<Message> = {}): Message => ({
  ...{ id: 1, turn: 1, at: AT, cwd: '/', role, content },
  ...more,
});
const NO_LEVELS = Object.fromEntries(
  ['off', 'low', 'medium', 'high', 'xhigh', 'max'].map((level) => [`thinking ${level}`, false]),
);
const tool = { name: 'bash', description: 'Runs.', parameters: { type: 'object' } };
const schema = { schema: { type: 'object' }, needsTools: false };

const request = (more: Partial<ChatRequest> = {}): ChatRequest => ({
  ...chatRequest(),
  ...{ model: 'm', system: [], tools: [], thinking: null, web: 'off', messages: [said('user', [text])] },
  ...more,
});
const answered = (...content: readonly Part[]): Partial<ChatRequest> => ({
  messages: [said('user', [text]), said('assistant', content, { model: 'm' }), said('user', [text])],
});

const FEATURES: readonly Feature[] = [
  ...(['tools', 'calls', 'parallel_calls', 'images', 'documents', 'audio', 'opaque'] as const),
  ...(['web', 'system', 'call_ids', 'summaries', 'schema', 'extras'] as const),
];

const refusal = (refused: Refused, code: 'request' | 'window' = 'request'): RequestRefusal =>
  new RequestRefusal(code, 'No.', { refused, said: 'no way', param: null });

describe('a request', () => {
  it.each<readonly [string, Partial<ChatRequest>, readonly Feature[]]>([
    ['words', {}, []],
    ['tools', { tools: [tool] }, ['tools']],
    ['a call', answered(call('a')), ['tools', 'calls', 'call_ids']],
    ['two calls', answered(call('a'), text, call('b')), ['tools', 'calls', 'parallel_calls', 'call_ids']],
    [
      'two answers with a call each',
      { messages: [said('assistant', [call('a')]), said('assistant', [call('b')])] },
      ['tools', 'calls', 'call_ids'],
    ],
    ['a picture', answered(file('image/png')), ['images']],
    ['a document', answered(file('application/pdf')), ['documents']],
    ['a sound', answered(file('audio/mp3')), ['audio']],
    ['thinking that was shown', answered({ type: 'thinking', text: 'hm' }), ['opaque']],
    ['a signature', answered({ ...text, opaque: { a: 1 } } as Part), ['opaque']],
    ['a system message', { system: ['Be kind.'] }, ['system']],
    ['a level of thinking', { thinking: 'low' }, ['summaries']],
    ['no thinking', { thinking: 'off' }, []],
    ['a schema', { schema }, ['schema']],
    ['a search', { web: 'on' }, ['web']],
    ['a search where the model wants one', { web: 'auto' }, ['web']],
  ])('with %s has exactly these features, unless the server is known to refuse them', (_, more, features) => {
    const one = request(more);
    expect(FEATURES.filter((feature) => contains(one, feature))).toEqual(
      FEATURES.filter((feature) => feature === 'extras' || features.includes(feature)),
    );
    const takes = Object.fromEntries(FEATURES.map((feature) => [feature, false]));
    expect(FEATURES.filter((feature) => contains({ ...one, facts: { takes } }, feature))).toEqual([]);
    const all = Object.fromEntries(FEATURES.map((feature) => [feature, true]));
    expect(FEATURES.filter((feature) => contains({ ...one, facts: { takes: all } }, feature)).length).toBe(
      features.length + 1,
    );
  });

  it('uses the nearest thinking level that was not refused', () => {
    expect(thinkingOf(request())).toBeNull();
    expect(thinkingOf(request({ thinking: 'high' }))).toBe('high');
    expect(thinkingOf(request({ thinking: 'high', facts: { takes: { 'thinking high': false } } }))).toBe('medium');
    expect(thinkingOf(request({ thinking: 'high', facts: { takes: NO_LEVELS } }))).toBeNull();
  });

  it('has more than words in earlier messages, in the same model’s own form or in any', () => {
    const old = (part: Part, more: Partial<Message> = {}, facts: ModelFacts = {}): boolean =>
      holdsOldParts(
        request({ messages: [said('assistant', [part], { model: 'm', ...more }), said('user', [text])], facts }),
      );
    expect([
      old(text),
      old({ type: 'thinking', text: 'hm' }),
      old({ type: 'thinking', text: 'hm' }, { model: 'x' }),
    ]).toEqual([false, true, false]);
    expect([old({ type: 'vendor', opaque: {} }), old({ type: 'vendor', opaque: {} }, { model: 'x' })]).toEqual([
      true,
      false,
    ]);
    expect([old(call('a'), { model: 'x' }), old(file('image/png'), { model: 'x' })]).toEqual([true, true]);
    expect([
      old(call('a'), {}, { refused_at: { earlier_parts: NOW } }),
      old(call('a'), {}, { refused_at: { earlier_parts: Date.parse(AT) - 1 } }),
    ]).toEqual([false, true]);
    expect(holdsOldParts(request({ messages: [said('user', [file('image/png')])] }))).toBe(false);
    expect(holdsOldParts(request({ messages: [said('user', [file('image/png')]), said('user', [text])] }))).toBe(true);
    expect(holdsOldParts(request({ messages: [said('user', [text]), said('assistant', [call('a')])] }))).toBe(true);
  });

  it('has files in the newest message and in earlier ones', () => {
    const messages = [
      said('user', [text, file('image/png', '1')]),
      said('tool', [file('a/b', '2')]),
      said('user', [file('a/b', '3')]),
      said('tool', [file('a/b', '4')]),
    ];
    const of = (digits: string): readonly string[] => [...digits].map((digit) => digit.repeat(64));
    expect(attachmentsOf(request({ messages }))).toEqual({ earlier: of('12'), newest: of('34') });
  });
});

describe('the lessons of a refusal', () => {
  const learnt = (refused: Refused, more: Partial<ChatRequest>, code: 'request' | 'window' = 'request') =>
    lessonOf(refusal(refused, code), request(more), NOW);
  const features = (...names: readonly Feature[]): Refused => ({ what: 'features', features: names });

  it('are the features of the request, and when; with a notice if the user misses something', () => {
    expect(learnt(features('tools', 'system', 'images'), { tools: [tool], system: ['x'] })).toEqual({
      facts: { takes: { tools: false, system: false }, refused_at: { tools: NOW, system: NOW } },
      notice: "'m' does not support tools here: it answers without them.",
    });
    expect(learnt(features('images'), {})).toBeNull();
    const notices: readonly (readonly [Feature, Partial<ChatRequest>, string | null])[] = [
      [
        'images',
        answered(file('image/png')),
        "'m' does not support images: those of earlier messages are only mentioned.",
      ],
      [
        'documents',
        answered(file('a/b')),
        "'m' does not support documents: those of earlier messages are only mentioned.",
      ],
      ['audio', answered(file('audio/mp3')), "'m' does not support audio: that of earlier messages is only mentioned."],
      ['schema', { schema }, "'m' cannot be held to a schema: it is given in words."],
      ['web', { web: 'on' }, "'m' cannot search the web here: it answers without searching."],
      ['summaries', { thinking: 'low' }, "'m' does not show its thinking here."],
      ['system', { system: ['x'] }, null],
      ['call_ids', answered(call('a')), null],
    ];
    for (const [feature, more, notice] of notices) expect(learnt(features(feature), more)?.notice).toBe(notice);
  });

  it('include when opaque parts were refused, and all of them if that was not enough', () => {
    const signed = answered({ type: 'thinking', text: 'hm' });
    const notice = "'m' does not accept the thinking of earlier answers: it is left out.";
    expect(learnt(features('opaque'), signed)).toEqual({ facts: refusedNow(['earlier_opaque'], NOW), notice });
    const again = learnt(features('opaque'), { ...signed, facts: refusedNow(['earlier_opaque'], 5) });
    expect(again).toEqual({ facts: { takes: { opaque: false }, refused_at: { opaque: NOW } }, notice });
  });

  it('include the levels of thinking, and what the model does instead', () => {
    const thinking = (levels: Extract<Refused, { what: 'thinking' }>['levels'], more: Partial<ChatRequest>) =>
      learnt({ what: 'thinking', levels }, more);
    expect(thinking('this', { thinking: 'high' })).toEqual({
      facts: refusedNow(['thinking high'], NOW),
      notice: "'m' does not support thinking 'high': 'medium' is used.",
    });
    expect(thinking(['medium'], { thinking: 'high' })).toMatchObject({
      facts: refusedNow(['thinking high', 'thinking medium'], NOW),
      notice: "'m' does not support thinking 'high': 'xhigh' is used.",
    });
    expect(thinking('all', { thinking: 'low' })).toMatchObject({
      facts: { takes: NO_LEVELS },
      notice: "'m' does not support thinking 'low': its default level is used.",
    });
    expect(thinking('this', { thinking: 'high', facts: { takes: { 'thinking high': false } } })?.notice).toContain(
      "'medium': 'xhigh' is used",
    );
    expect([thinking('this', {}), thinking('this', { thinking: 'low', facts: { takes: NO_LEVELS } })]).toEqual([
      null,
      null,
    ]);
  });

  it('include the files of earlier messages, unless one of the newest may be the cause', () => {
    const old = answered(file('image/png'));
    const newest = { messages: [said('user', [file('a/b', '1')]), said('user', [file('a/b', '2')])] };
    expect(learnt({ what: 'files' }, old)).toEqual({
      facts: refusedNow([`file ${'a'.repeat(64)}`], NOW),
      notice: "'m' refused a file of an earlier message: the files of earlier messages are only mentioned.",
    });
    expect(learnt({ what: 'files' }, newest)).toBeNull();
    expect(learnt({ what: 'files' }, newest, 'window')).toMatchObject({
      facts: refusedNow([`file ${'1'.repeat(64)}`], NOW),
      notice: "'m' refused all the files together: the files of earlier messages are only mentioned.",
    });
    expect(learnt({ what: 'files' }, { messages: [said('user', [file('a/b')])] }, 'window')).toBeNull();
  });

  it('include what gives a message an unusual role: tools first, then the system message', () => {
    expect(learnt({ what: 'roles' }, { tools: [tool], system: ['x'] })?.facts.takes).toEqual({ tools: false });
    expect(learnt({ what: 'roles' }, { system: ['x'] })?.facts.takes).toEqual({ system: false });
    expect(learnt({ what: 'roles' }, {})).toBeNull();
  });

  it('are about this schema alone if only that is refused, and are empty if the server says nothing', () => {
    expect(learnt({ what: 'schema' }, { schema })).toEqual({
      facts: refusedNow([`schema ${schemaKey(schema)}`], NOW),
      notice: "'m' refused the schema: it is given in words.",
    });
    expect(learnt({ what: 'schema' }, {})).toBeNull();
    expect(learnt({ what: 'unsaid', isCertain: true }, { tools: [tool], schema })).toBeNull();
  });
});

describe('an option of the configuration', () => {
  const options = { temperature: 1, top_p: 0.5, frequency_penalty: 2, stop: ['x'], max_tool_calls: 3 };
  const named = (said: string, param: string | null = null, more: Partial<ChatRequest> = {}): readonly string[] =>
    refusedOptions({ said, param }, { options, ...more });

  it.each([
    ['temperature is not supported', ['temperature']],
    ["Unsupported parameter: 'top_p'.", ['top_p']],
    ['Unknown name "topP"', ['top_p']],
    ['Penalty is not enabled for this model', ['frequency_penalty']],
    ['calls is not allowed', []],
    ['Please stop sending that', []],
    ["Unknown parameter 'stop'", ['stop']],
    ['temperature and top_p are not supported', ['temperature', 'top_p']],
    ['temperature and top_p cannot both be set', ['top_p']],
    ['Use only one of top_p, temperature', ['top_p']],
    ['something else is wrong', []],
  ])('is found in the message of a server: %s', (said, names) => {
    expect(named(said)).toEqual(names);
  });

  it('is the one that the server names in a separate field, and never one that is not sent', () => {
    expect(named('temperature is wrong', 'top_p')).toEqual(['top_p']);
    expect(named('wrong', 'generationConfig.topP')).toEqual(['top_p']);
    expect(named('wrong', 'request.body[0]temperature')).toEqual(['temperature']);
    expect(named('temperature is wrong', 'model')).toEqual([]);
    expect(named('temperature is wrong', null, { facts: { takes: { 'option temperature=1': false } } })).toEqual([]);
    expect(named('temperature is wrong', null, { facts: { takes: { 'option temperature=2': false } } })).toEqual([
      'temperature',
    ]);
    expect(refusedOptions({ said: 'temperature', param: null }, {})).toEqual([]);
  });

  it('is left out with its value, with a notice', () => {
    const refused = (said: string, code: 'request' | 'window' = 'request') =>
      lessonOf(
        new RequestRefusal(code, 'No.', { refused: { what: 'unsaid', isCertain: true }, said, param: null }),
        request({ options }),
        NOW,
      );
    expect(refused('temperature is not supported')).toEqual({
      facts: refusedNow(['option temperature=1'], NOW),
      notice: "'m' does not accept the option 'temperature' as configured: it is left out.",
    });
    expect(refused('temperature, top_p: no')).toMatchObject({
      facts: refusedNow(['option temperature=1', 'option top_p=0.5'], NOW),
      notice: "'m' does not accept the options 'temperature' and 'top_p' as configured: they are left out.",
    });
    expect(refused('temperature is not supported', 'window')).toBeNull();
    const plain = adaptRequest(request({ options }), refusal({ what: 'unsaid', isCertain: true }), memory(), false);
    expect(plain?.notice).toContain('it answers without the options of the configuration.');
    expect(plain?.request.options).toEqual({});
    const times = Object.entries(plain?.proves?.refused_at ?? {}).filter(([name]) => name.startsWith('option '));
    expect(times.map(([, at]) => Number(at) > 0)).toEqual(Array(5).fill(true));
  });
});

describe('the length limit of an answer', () => {
  const output = (most: number, more: Partial<ChatRequest>) =>
    lessonOf(refusal({ what: 'output', most }), request(more), NOW);
  it("is the server's maximum, with a notice if the user requested more", () => {
    expect(output(500, { max_output_tokens: 1000 })).toEqual({
      facts: { max_output_tokens: 500 },
      notice: "'m' writes at most 500 tokens in one answer.",
    });
    expect(output(500, {})).toEqual({ facts: { max_output_tokens: 500 }, notice: null });
    expect(output(500, { facts: { max_output_tokens: 800 } })).toEqual({
      facts: { max_output_tokens: 500 },
      notice: null,
    });
  });

  it('is left to the server if a shorter one was requested already', () => {
    const none = { facts: { takes: { output_limit: false }, refused_at: { output_limit: NOW } }, notice: null };
    expect(output(500, { max_output_tokens: 500 })).toEqual(none);
    expect(output(900, { max_output_tokens: 1000, facts: { max_output_tokens: 800 } })).toEqual(none);
    expect(output(900, { max_output_tokens: 700, facts: { max_output_tokens: 800 } })).toEqual(none);
  });
});

describe('an answer after a refusal', () => {
  const proves = refusedNow(['earlier_parts'], 5);
  const adapted = { request: request(), notice: null, proves, isRepeated: false };
  const doubted = refusedNow(['usual_form'], 7);
  it('confirms what was left out the second time, and is uncertain the first time', () => {
    expect(learntFromAnswer(adapted, {}, NOW)).toEqual(refusedNow(['usual_form'], NOW));
    expect(learntFromAnswer({ ...adapted, isRepeated: true }, {}, NOW)).toEqual({
      ...{ takes: { earlier_parts: false, usual_form: true }, refused_at: { earlier_parts: 5 } },
    });
    expect(learntFromAnswer({ ...adapted, proves: null }, doubted, NOW)).toBeNull();
    expect([learntFromAnswer(null, doubted, NOW), learntFromAnswer(null, {}, NOW)]).toEqual([
      { takes: { usual_form: true } },
      null,
    ]);
    expect(learntFromAnswer(null, { takes: { usual_form: true } }, NOW)).toBeNull();
  });

  it('gives a notice while in doubt too, and uses the plainest form as the last resort', () => {
    const unsaid = refusal({ what: 'unsaid', isCertain: true });
    const doubted = adaptRequest(request({ tools: [tool] }), unsaid, memory(refusedNow(['usual_form'], 5)), false);
    expect([doubted?.notice, doubted?.isRepeated]).toEqual([expect.stringContaining('without tools'), true]);
    const fresh = adaptRequest(request({ tools: [tool] }), unsaid, memory(), false);
    expect(fresh?.isRepeated).toBe(false);
    expect(fresh?.request.facts).not.toHaveProperty('max_output_tokens');
    const last = adaptRequest(request({ tools: [tool] }), unsaid, memory(), true);
    expect(last?.request.facts).toMatchObject({ takes: { stream: false, output_limit: false } });
    expect(last?.proves?.takes).toMatchObject({ tools: false, extras: false, stream: false, output_limit: false });
    const learnt = adaptRequest(
      request({ web: 'on' }),
      refusal({ what: 'features', features: ['web'] }),
      memory(),
      true,
    );
    expect(learnt?.request.facts).toMatchObject({ takes: { web: false, stream: false } });
  });
});

describe('a refused request', () => {
  const unsaid = refusal({ what: 'unsaid', isCertain: true });
  const full: Partial<ChatRequest> = {
    ...answered(call('a')),
    ...{ tools: [tool], thinking: 'high', system: ['x'], schema, web: 'on' },
  };
  const PARTS =
    'tools, a level of thinking, a schema, except in words, a web search, a system message, the attachments of earlier messages';

  it('is sent again without what was refused, which is remembered', () => {
    const known = memory();
    const adapted = adaptRequest(request(full), refusal({ what: 'features', features: ['tools'] }), known, false);
    expect(adapted?.notice).toBe("'m' does not support tools here: it answers without them. (no way)");
    expect(adapted?.request.facts?.takes).toEqual({ tools: false });
    expect([known.facts.takes, adapted?.proves]).toEqual([{ tools: false }, null]);
    const quiet = adaptRequest(request(full), refusal({ what: 'features', features: ['system'] }), known, false);
    expect(quiet?.notice).toBeNull();
    adaptRequest(request(full), refusal({ what: 'schema' }), known, false);
    expect(Object.keys(known.facts.takes ?? {}).join()).toMatch(/,schema \w{16}$/);
  });

  it('is sent again as text alone if the server does not say what it refused', () => {
    const before = Date.now();
    const plain = adaptRequest(request(full), unsaid, memory(), false);
    expect(plain?.notice).toBe(`'m' refused the request: it answers without ${PARTS}. (no way)`);
    expect(plain?.request.thinking).toBeNull();
    const takes = { tools: false, web: false, system: false, schema: false, extras: false, earlier_parts: false };
    expect(plain?.request.facts?.takes).toMatchObject(takes);
    expect(plain?.proves?.takes).toEqual({ earlier_parts: false });
    expect(plain?.proves?.refused_at?.earlier_parts).toBeGreaterThanOrEqual(before);
    const again = adaptRequest(
      request({ ...full, facts: plain?.proves ?? {} }),
      unsaid,
      memory(plain?.proves ?? {}),
      false,
    );
    expect(again?.isRepeated).toBe(true);
    expect(again?.proves?.takes).toEqual({ ...takes, ...NO_LEVELS, output_limit: false });
  });

  it('confirms only what it left out', () => {
    const plain = adaptRequest(request({ tools: [tool] }), unsaid, memory(), false);
    expect(plain?.notice).toBe("'m' refused the request: it answers without tools. (no way)");
    expect(plain?.proves?.takes).toEqual({ earlier_parts: false, tools: false, extras: false, output_limit: false });
  });

  it('that is text alone is asked for in one piece and without a limit, which confirms both forms', () => {
    const asked = request({ tools: [tool], options: { temperature: 1 }, facts: { takes: { schema: false } } });
    const first = adaptRequest(asked, unsaid, memory(), false);
    expect(first?.request.facts?.takes).toMatchObject({ tools: false, stream: false, output_limit: false });
    expect(first?.proves?.takes).not.toHaveProperty('stream');
    const learnt = { ...asked, options: {}, facts: mergeFacts(asked.facts ?? {}, first?.proves ?? {}) };
    const last = adaptRequest(learnt, unsaid, memory(), false);
    expect(last?.notice).toContain('without anything but text, and without streaming.');
    expect(last?.proves?.takes).toEqual({
      ...{ earlier_parts: false, tools: false, extras: false, stream: false, output_limit: false },
      'option temperature=1': false,
    });
    expect(adaptRequest(last?.request ?? asked, unsaid, memory(), false)).toBeNull();
  });

  it('the last time is sent as text alone, whatever was said, which then confirms nothing', () => {
    const known = memory();
    const plain = adaptRequest(request(full), refusal({ what: 'features', features: ['web'] }), known, true);
    expect([known.facts.takes, plain?.proves]).toEqual([{ web: false }, null]);
    expect(plain?.request.facts?.takes).toMatchObject({ tools: false, stream: false });
    expect(plain?.notice).toContain('it answers without tools');
  });

  it('that is too large needs a compaction, and one with nothing to leave out is given up', () => {
    expect(
      adaptRequest(request(full), refusal({ what: 'unsaid', isCertain: true }, 'window'), memory(), false),
    ).toBeNull();
    const takes = { extras: false, output_limit: false, stream: false };
    const plainest = request({ facts: { takes } });
    expect(adaptRequest(plainest, refusal({ what: 'unsaid', isCertain: true }), memory(), false)).toBeNull();
    const files = adaptRequest(
      request(answered(file('image/png'))),
      refusal({ what: 'files' }, 'window'),
      memory(),
      false,
    );
    expect(files?.notice).toContain('all the files together');
  });
});
