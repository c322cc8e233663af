import { afterEach, describe, expect, it } from '@jest/globals';
import { logIn } from '../../lib/mcp/auth/login-adapter.js';
import type { StoredLogin } from '../../lib/mcp/auth/login-file.js';
import { RedirectListener } from '../../lib/mcp/auth/redirect-listener.js';
import { type OAuthFaults, OAuthServer } from '../support/oauth-server.js';

let server: OAuthServer;
afterEach(() => server?.close());

/**
 * Logs in at such a server with a browser that goes where it is sent: what is kept, where the user was sent, and why it
 * failed.
 */
async function attempt(faults: OAuthFaults) {
  server = await OAuthServer.open(faults);
  const listener = await RedirectListener.open(0, '127.0.0.1');
  if (listener === null) throw new Error('No port is free.');
  const kept: StoredLogin[] = [];
  const shown: URL[] = [];
  const failure = await logIn({
    url: server.url,
    headers: {},
    client: null,
    scope: null,
    before: null,
    listener,
    environment: {},
    signal: AbortSignal.timeout(10_000),
    agreesTo: async () => false,
    show: (page) => {
      shown.push(page);
      void fetch(page).catch(() => null);
    },
    keep: async (login) => {
      kept.push(login);
    },
  }).then(
    () => null,
    (thrown) => String(thrown.message),
  );
  listener.close();
  return { kept, shown, failure };
}

describe('an authorization server', () => {
  it('is used if nothing is wrong with it', async () => {
    const { kept, shown, failure } = await attempt({});
    expect({ failure, shown: shown.length }).toEqual({ failure: null, shown: 1 });
    expect(kept).toEqual([
      expect.objectContaining({ url: server.url, authorization_server: server.base, wanted: null }),
    ]);
  });

  it.each([
    ['its issuer is another', { issuer: 'https://evil.example.com' }, /issuer/i],
    [
      'its page is a file',
      { authorization_endpoint: 'file:///etc/passwd' },
      /address of the login page cannot be opened/,
    ],
    ['its page is a script', { authorization_endpoint: 'javascript:alert(1)' }, /The login failed/],
    [
      'its page is a program',
      { authorization_endpoint: 'steam://run/1' },
      /address of the login page cannot be opened/,
    ],
    [
      'its page is on plain http',
      { authorization_endpoint: 'http://192.0.2.1/' },
      /address of the login page cannot be opened/,
    ],
    ['it knows no PKCE', { code_challenge_methods_supported: ['plain'] }, /code challenge method/],
    ['its clients are registered elsewhere', { registration_endpoint: 'http://192.0.2.1/' }, /is not allowed/],
    ['its answer has no end', { description: 'x'.repeat(2_000_000) }, /is longer than 1 MB/],
  ])('is not used if %s', async (_, metadata, expected) => {
    const { kept, shown, failure } = await attempt({ metadata });
    expect(failure).toMatch(expected);
    expect({ kept, shown, tokens: server.tokenRequests }).toEqual({ kept: [], shown: [], tokens: [] });
  });

  it('gets no code if its token endpoint is plain http', async () => {
    const { kept, failure } = await attempt({ metadata: { token_endpoint: 'http://192.0.2.1/token' } });
    expect(failure).toContain('192.0.2.1');
    expect(kept).toEqual([]);
  });

  it('is not used for another resource', async () => {
    const { shown, failure } = await attempt({ resource: { resource: 'https://evil.example.com/mcp' } });
    expect(failure).toContain('https://evil.example.com/mcp');
    expect(shown).toEqual([]);
  });

  it('is quoted without what was sent to it', async () => {
    const { failure } = await attempt({ answer: (params) => params.set('code', 'of another') });
    expect(failure).toMatch(/^The login failed: invalid_grant: No such grant: .* of another … /);
    expect(failure).not.toContain(server.tokenRequests.at(-1)?.params.code_verifier);
  });
});
