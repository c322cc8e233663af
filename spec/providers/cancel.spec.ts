import { describe, expect, it } from '@jest/globals';
import { isAbort } from '../../lib/errors.js';
import { adapter, ask, chatRequest } from '../support/providers.js';
import { vendorServer } from '../support/vendor-server.js';
import { dialects } from '../support/vendors.js';

describe.each(dialects.map((dialect) => [dialect.title, dialect] as const))('cancelling %s', (_, dialect) => {
  it('closes the connection while the answer streams, and throws an abort error', async () => {
    const whole = dialect.text('Hel', 'lo', ' you', ' there');
    await using server = await vendorServer({ ...whole, chunks: whole.chunks?.slice(0, -3) ?? [], end: 'never' });
    const provider = await adapter(dialect.provider, server.url + dialect.path, dialect.settings);
    const controller = new AbortController();
    const iterator = provider.stream(chatRequest(), controller.signal)[Symbol.asyncIterator]();
    await iterator.next();
    const rest = (async () => {
      while (!(await iterator.next()).done);
    })();
    controller.abort();
    const error = await rest.catch((thrown: unknown) => thrown);
    expect(isAbort(error)).toBe(true);
    await server.requests[0]?.closed;
  });

  it('closes the connection before the headers arrive', async () => {
    await using server = await vendorServer({ silent: true });
    const provider = await adapter(dialect.provider, server.url + dialect.path, dialect.settings);
    const controller = new AbortController();
    const asked = ask(provider, chatRequest(), controller.signal);
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    controller.abort();
    expect(isAbort((await asked).error)).toBe(true);
    await server.requests[0]?.closed;
  });

  it('sends nothing when it is cancelled before it began', async () => {
    await using server = await vendorServer(dialect.text('Hello'));
    const provider = await adapter(dialect.provider, server.url + dialect.path, dialect.settings);
    const { error } = await ask(provider, chatRequest(), AbortSignal.abort());
    expect(isAbort(error)).toBe(true);
    expect(server.requests).toEqual([]);
  });

  it('closes the connection when the reader stops reading', async () => {
    const whole = dialect.text('Hel', 'lo', ' you', ' there');
    await using server = await vendorServer({ ...whole, chunks: whole.chunks?.slice(0, -3) ?? [], end: 'never' });
    const provider = await adapter(dialect.provider, server.url + dialect.path, dialect.settings);
    for await (const event of provider.stream(chatRequest(), new AbortController().signal)) {
      if (event.type === 'text') break;
    }
    await server.requests[0]?.closed;
    expect(server.requests).toHaveLength(1);
  });
});
