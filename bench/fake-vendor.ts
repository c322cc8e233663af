import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { RequestClock } from './process.js';

/** A server on loopback that streams answers of five-character pieces in every vendor's format. */
export interface FakeVendor {
  readonly clock: RequestClock;
  readonly port: number;
  /** The number of pieces in the next answers. */
  pieces: number;
  close(): void;
}

const PIECE = 'abcd ';

/**
 * Starts the server. It writes as fast as the client reads, and makes each answer only once, so that it hardly adds to
 * the measured time.
 */
export async function startFakeVendor(): Promise<FakeVendor> {
  const clock: RequestClock = { arrived: null };
  const answers = new Map<string, Buffer>();
  const vendor = { clock, port: 0, pieces: 1, close: () => void server.close() };
  const server = createServer((request, response) => {
    clock.arrived ??= performance.now();
    request.resume();
    request.once('end', () => {
      const { head, piece, tail, type } = dialectOf(request.url ?? '');
      const key = `${vendor.pieces} ${piece}`;
      const body = answers.get(key) ?? Buffer.from(head + piece.repeat(vendor.pieces) + tail);
      answers.set(key, body);
      response.writeHead(200, { 'content-type': type });
      Readable.from(slices(body)).pipe(response);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  vendor.port = (server.address() as AddressInfo).port;
  return vendor;
}

/** The number of bytes that a network delivers at a time. */
const SLICE = 16_384;

function* slices(body: Buffer): Generator<Buffer> {
  for (let start = 0; start < body.length; start += SLICE) yield body.subarray(start, start + SLICE);
}

interface Dialect {
  readonly type: string;
  readonly head: string;
  readonly piece: string;
  readonly tail: string;
}

function dialectOf(url: string): Dialect {
  const event = (data: unknown, name?: string): string =>
    `${name ? `event: ${name}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
  if (url.includes('/messages')) {
    const named = (data: { readonly type: string }): string => event(data, data.type);
    const usage = { input_tokens: 9, output_tokens: 1 };
    return {
      type: 'text/event-stream',
      head:
        named({
          type: 'message_start',
          message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage },
        } as { type: string }) +
        named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as { type: string }),
      piece: named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: PIECE } } as {
        type: string;
      }),
      tail:
        named({ type: 'content_block_stop', index: 0 } as { type: string }) +
        named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage } as { type: string }) +
        named({ type: 'message_stop' }),
    };
  }
  if (url.includes('GenerateContent')) {
    const part = (text: string, more: object = {}): string =>
      `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text }] }, ...more }] })}\r\n\r\n`;
    return { type: 'text/event-stream', head: '', piece: part(PIECE), tail: part('', { finishReason: 'STOP' }) };
  }
  if (url.includes('/api/chat')) {
    const line = (content: string, more: object): string =>
      `${JSON.stringify({ model: 'm', created_at: '2026-01-01T00:00:00Z', message: { role: 'assistant', content }, ...more })}\n`;
    const end = { done: true, done_reason: 'stop', prompt_eval_count: 9, eval_count: 1 };
    return { type: 'application/x-ndjson', head: '', piece: line(PIECE, { done: false }), tail: line('', end) };
  }
  const chunk = (delta: object, finish_reason: string | null): string =>
    event({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason }],
    });
  return {
    type: 'text/event-stream',
    head: '',
    piece: chunk({ content: PIECE }, null),
    tail: `${chunk({}, 'stop')}data: [DONE]\n\n`,
  };
}
