import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { ChatEvent } from '../../../lib/chat/event.js';
import type { Message, Part } from '../../../lib/chat/message.js';
import type { ImageLimits } from '../../../lib/chat/model.js';
import type { ChatRequest } from '../../../lib/chat/request.js';
import { fitImages, type ImageFitting } from '../../../lib/session/images/images.js';
import { memoryCache } from '../../support/compaction.js';
import { png } from '../../support/pictures.js';

const LIMITS: ImageLimits = { side: 100, used: 100, bytes: 1_000_000, request: 10_000_000 };
const signal = new AbortController().signal;

const shaOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const image = (bytes: Buffer, name?: string): Part => ({
  ...{ type: 'image', mime: 'image/png', sha256: shaOf(bytes), bytes: bytes.length },
  ...(name !== undefined && { name }),
});
const message = (id: number, role: Message['role'], ...content: readonly Part[]): Message => ({
  ...{ id, turn: id, at: '2026-01-01T00:00:00Z', cwd: '/', role },
  content,
});

const [LARGE, SMALL] = [png(300, 10), png(20, 10)];

/** A request with these messages and pictures. */
function requestWith(messages: readonly Message[], ...pictures: readonly Buffer[]): ChatRequest {
  const attachments = new Map(pictures.map((bytes) => [shaOf(bytes), bytes]));
  const rest = { model: 'm', system: [], tools: [], max_output_tokens: null, thinking: null, web: 'off', options: {} };
  return { ...rest, messages, attachments } as unknown as ChatRequest;
}

/** What becomes of a request; the cache knows the smaller picture, as after an earlier start. */
async function fitted(request: ChatRequest, fitting: Partial<ImageFitting> = {}, known: readonly Buffer[] = [LARGE]) {
  const cache = memoryCache();
  const { used, bytes } = LIMITS;
  for (const one of known) {
    const hash = createHash('sha256')
      .update(`picture ${JSON.stringify([shaOf(one), used, bytes])}`)
      .digest('hex');
    const data = Buffer.from('smaller').toString('base64');
    cache.stored.set(hash, JSON.stringify({ mime: 'image/jpeg', width: 100, height: 3, data }));
  }
  const events: ChatEvent[] = [];
  const prepared = async function* (): AsyncGenerator<ChatEvent, ChatRequest> {
    yield { type: 'waiting', what: 'before' };
    return request;
  };
  const running = fitImages(prepared(), { limits: LIMITS, cache, made: new Map(), ...fitting }, signal);
  for (;;) {
    const { done, value } = await running.next();
    if (done) return { events: events.slice(1), request: value };
    events.push(value);
  }
}

describe('a picture that is too large for the vendor', () => {
  it('is sent smaller under its name, with a notice if it is new, and stored unchanged', async () => {
    const request = requestWith([message(1, 'user', image(LARGE, 'cat.png'), image(SMALL))], LARGE, SMALL);
    const { events, request: sent } = await fitted(request);
    expect(events).toEqual([
      { type: 'waiting', what: 'scaling cat.png' },
      { type: 'notice', level: 'info', text: 'cat.png: 115 bytes, sent as 100 × 3 JPEG, 7 bytes' },
    ]);
    expect(sent.messages[0]?.content).toEqual([{ ...image(LARGE, 'cat.png'), mime: 'image/jpeg' }, image(SMALL)]);
    expect(Buffer.from(sent.attachments.get(shaOf(LARGE)) ?? []).toString()).toBe('smaller');
    expect(sent.attachments.get(shaOf(SMALL))).toBe(SMALL);
    expect(request.attachments.get(shaOf(LARGE))).toBe(LARGE);
  });

  it('of an earlier message is sent smaller without a notice', async () => {
    const old = [
      message(1, 'user', image(LARGE)),
      message(2, 'assistant'),
      message(3, 'user', { type: 'text', text: 'x' }),
    ];
    const { events, request } = await fitted(requestWith(old, LARGE));
    expect(events).toEqual([{ type: 'waiting', what: 'scaling a picture' }]);
    expect(request.messages[0]?.content).toMatchObject([{ mime: 'image/jpeg' }]);
  });

  it('of an earlier message causes no notice because of another picture in the newest', async () => {
    const messages = [message(1, 'user', image(LARGE)), message(3, 'user', image(SMALL))];
    const { events } = await fitted(requestWith(messages, LARGE, SMALL));
    expect(events.filter(({ type }) => type === 'notice')).toEqual([]);
  });

  it('is made smaller once per process', async () => {
    const made: ImageFitting['made'] = new Map();
    const request = requestWith([message(1, 'user', image(LARGE))], LARGE);
    await fitted(request, { made });
    const again = await fitted(request, { made }, []);
    expect([again.events, again.request.messages[0]?.content]).toEqual([[], [{ ...image(LARGE), mime: 'image/jpeg' }]]);
  });

  it('that cannot be made smaller is sent unchanged', async () => {
    const { used, bytes } = LIMITS;
    const made = new Map([[JSON.stringify([shaOf(LARGE), used, bytes]), null]]);
    const request = requestWith([message(1, 'user', image(LARGE))], LARGE);
    expect((await fitted(request, { made })).request).toBe(request);
  });

  it('is left alone if the vendor has no limits, none is too large, or its bytes are gone', async () => {
    const request = requestWith([message(1, 'user', image(LARGE))], LARGE);
    expect(await fitted(request, { limits: null })).toEqual({ events: [], request });
    const small = requestWith([message(1, 'user', image(SMALL))], SMALL);
    expect((await fitted(small)).request).toBe(small);
    const gone = requestWith([message(1, 'user', image(LARGE), image(SMALL))], SMALL);
    expect((await fitted(gone)).request).toBe(gone);
    const none = requestWith([message(1, 'user', { type: 'text', text: 'x' })]);
    expect((await fitted(none)).request).toBe(none);
  });

  it('that a tool or a model made is left alone', async () => {
    const request = requestWith([message(1, 'user', image(LARGE)), message(2, 'assistant', image(LARGE))], LARGE);
    const { request: sent } = await fitted(request);
    expect(sent.messages[1]?.content).toEqual([image(LARGE)]);
  });

  it('is described with the format in which it is sent', async () => {
    const made: ImageFitting['made'] = new Map();
    const cache = memoryCache();
    const { used, bytes } = LIMITS;
    const hash = createHash('sha256')
      .update(`picture ${JSON.stringify([shaOf(LARGE), used, bytes])}`)
      .digest('hex');
    const data = Buffer.alloc(3 * 1024 * 1024).toString('base64');
    cache.stored.set(hash, JSON.stringify({ mime: 'image/png', width: 90, height: 3, data }));
    const { events } = await fitted(requestWith([message(1, 'user', image(LARGE))], LARGE), { made, cache }, []);
    expect(events.at(-1)).toMatchObject({ text: 'A picture: 115 bytes, sent as 90 × 3 PNG, 3.1 MB' });
  });
});
