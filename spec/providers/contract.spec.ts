import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { HiError, isAbort } from '../../lib/errors.js';
import { providers } from '../../lib/providers/index.js';
import { openai } from '../../lib/providers/openai.js';
import { ask, chatRequest, settingsFor } from '../support/providers.js';
import { refusal, vendorServer } from '../support/vendor-server.js';

describe('the registry of providers', () => {
  it('names each one once', () => {
    const names = providers.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('is shown in CONTRIBUTING.md with a compatible provider and everything that the contract requires', () => {
    const [, example = ''] =
      /```ts\n(\/\/ lib\/providers\/mistral\.ts\n.*?)```/s.exec(readFileSync('CONTRIBUTING.md', 'utf8')) ?? [];
    // How long a vendor keeps a prefix is five minutes where it does not say.
    const required = Object.entries(openai).filter(
      ([name, value]) => typeof value === 'function' && name !== 'cacheTerms',
    );
    for (const [name] of required) expect(example).toMatch(new RegExp(`^  ${name}: `, 'm'));
  });
});

describe.each(providers.map((member) => [member.name, member] as const))('%s', (name, member) => {
  it('creates an adapter with its name without using the network', async () => {
    await using server = await vendorServer();
    const provider = await member.create(settingsFor(server.url));
    expect(provider.name).toBe(name);
    expect(server.requests).toEqual([]);
  });

  it('sends nothing when it is cancelled before it began', async () => {
    await using server = await vendorServer();
    const { error } = await ask(await member.create(settingsFor(server.url)), chatRequest(), AbortSignal.abort());
    expect(isAbort(error)).toBe(true);
    expect(server.requests).toEqual([]);
  });

  it('reports a refused key, with the next step and without the key', async () => {
    await using server = await vendorServer(refusal(401, { error: { message: 'No: test-key-0123456789' } }));
    const { error, events } = await ask(await member.create(settingsFor(server.url)), chatRequest());
    expect(events).toEqual([]);
    expect(error).toMatchObject({ code: 'key', retryable: false, hint: expect.any(String) });
    expect(error instanceof HiError && `${error.message} ${error.hint}`).not.toContain('0123456789');
  });

  it('sends a request once, whatever the answer', async () => {
    await using server = await vendorServer(refusal(503, { error: { message: 'Busy' } }));
    const { error } = await ask(await member.create(settingsFor(server.url)), chatRequest());
    expect(error).toMatchObject({ code: 'overload', retryable: true });
    expect(server.requests).toHaveLength(1);
  });

  it('gives up a server that never answers', async () => {
    await using server = await vendorServer({ silent: true });
    const { error } = await ask(await member.create(settingsFor(server.url, { idleTimeout: 30 })), chatRequest());
    expect(error).toMatchObject({ code: 'network' });
  });

  it('has variables for a key exactly if it has a page for keys', () => {
    expect(member.keyVariables.length > 0).toBe(member.keyPage !== null);
  });
});
