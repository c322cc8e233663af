import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type OAuthFaults, OAuthServer } from '../support/oauth-server.js';
import { type Home, makeHome, PROGRAM, RUNTIME, type Run, type RunOptions, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { KEY, openTerminal } from '../support/terminal.js';

let server: OAuthServer;
let home: Home;
let model: ScriptedServer | null = null;

afterEach(async () => {
  await server?.close();
  await model?.close();
  model = null;
  home?.remove();
});

async function setUp(faults: OAuthFaults = {}, entry: object = {}): Promise<void> {
  server = await OAuthServer.open(faults);
  home = makeHome({ mcpServers: { far: { url: server.url, ...entry } } });
}

const call = (): Promise<Run> => runProgram(home, ['mcp', 'test', 'far', '--call', 'add={"text":"milk"}']);
const PAGE = /https?:\/\/\S+[?&]response_type=code\S*/;

/** Logs in, with something that takes the address of the page as a browser does. */
async function logIn(visit: (page: string) => Promise<unknown> = (page) => fetch(page), options: RunOptions = {}) {
  const pages: string[] = [];
  const visits: Promise<unknown>[] = [];
  let text = '';
  const run = await runProgram(home, ['mcp', 'login', 'far'], {
    ...options,
    during: (process) => {
      options.during?.(process);
      process.onError((chunk) => {
        text += chunk;
        const page = PAGE.exec(text)?.[0];
        if (page === undefined || pages.length > 0 || !text.includes(`${page}\n`)) return;
        pages.push(page);
        visits.push(visit(page).catch(() => null));
      });
    },
  });
  await Promise.all(visits);
  return { ...run, page: pages[0] === undefined ? null : new URL(pages[0]) };
}

const loginFile = (): string => join(home.data, 'mcp-logins', 'far.json');
const EXPIRED = { life: 1 };

describe('a login at an MCP server', () => {
  it('is offered, made in a browser with PKCE for its resource, used, and forgotten', async () => {
    await setUp();
    const before = await call();
    expect(before).toMatchObject({ status: 5 });
    expect(before.stderr).toContain("The server 'far': It requires a login. Run: hi mcp login far");
    const login = await logIn();
    expect(login).toMatchObject({ status: 0, stdout: '' });
    expect(login.stderr).toContain("Logged in to 'far'.");
    expectExchange(login.page);
    const after = await call();
    expect(after).toMatchObject({ status: 0 });
    expect(after.stdout).toContain('behind the login');
    expect(await runProgram(home, ['mcp', 'logout', 'far'])).toMatchObject({ status: 0 });
    expect((await call()).stderr).toContain('Run: hi mcp login far');
    expect(await runProgram(home, ['mcp', 'logout', 'far'])).toMatchObject({ status: 2 });
  });

  /** PKCE was used, for this resource, by a client that was registered with the address of the redirect. */
  function expectExchange(page: URL | null): void {
    const asked = page?.searchParams;
    expect(asked?.get('code_challenge_method')).toBe('S256');
    expect(asked?.get('state')).toMatch(/^[\w-]{43}$/);
    expect(asked?.get('resource')).toBe(server.url);
    expect(asked?.get('scope')).toBe('read');
    expect(asked?.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const params = server.tokenRequests[0]?.params;
    expect(params).toMatchObject({ resource: server.url, redirect_uri: asked?.get('redirect_uri') });
    expect(params?.code_verifier).toMatch(/^[\w~.-]{43,}$/);
    expect(page?.href).not.toContain(params?.code_verifier);
    expect(server.registrations).toEqual([
      expect.objectContaining({
        client_name: 'hi',
        redirect_uris: [asked?.get('redirect_uri')],
        token_endpoint_auth_method: 'none',
      }),
    ]);
  }

  it('goes to a private address that the server names only if the user agrees', async () => {
    await setUp({ resource: { authorization_servers: ['https://169.254.169.254'] } });
    const unasked = await runProgram(home, ['mcp', 'login', 'far']);
    expect(unasked.stderr).toContain("The server asks for a login at a private address: 'https://169.254.169.254/");
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'mcp', 'login', 'far'], { env: home.env, cwd: home.work });
    try {
      await terminal.until("The server wants the login to go to '169.254.169.254', a private address.");
      terminal.type(KEY.enter);
      expect((await terminal.exit()).status).not.toBe(0);
      expect(terminal.transcript()).toContain('asks for a login at a private address');
    } finally {
      await terminal.close();
    }
  });

  it('is revoked at the authorization server by logout and by remove', async () => {
    const metadata = (base: string) => ({ revocation_endpoint: `${base}/revoke` });
    await setUp({ metadata });
    await logIn();
    const login = readFileSync(loginFile(), 'utf8');
    const { tokens } = JSON.parse(login);
    for (const command of ['logout', 'remove']) {
      server.revocations.length = 0;
      writeFileSync(loginFile(), login, { mode: 0o600 });
      const run = await runProgram(home, ['mcp', command, 'far']);
      expect(run).toMatchObject({ status: 0 });
      expect(run.stderr).not.toContain('revoked');
      expect(existsSync(loginFile())).toBe(false);
      expect(server.revocations.map(({ params }) => params)).toEqual([
        { token: tokens.refresh_token, token_type_hint: 'refresh_token', client_id: expect.stringMatching(/^client-/) },
        { token: tokens.access_token, token_type_hint: 'access_token', client_id: expect.stringMatching(/^client-/) },
      ]);
    }
  });

  it('is revoked with the secret of a client that has one', async () => {
    const metadata = (base: string) => ({ revocation_endpoint: `${base}/revoke` });
    await setUp({ metadata }, { oauth: { clientId: 'me', clientSecret: 'hush' } });
    await logIn();
    await runProgram(home, ['mcp', 'logout', 'far']);
    const basic = `Basic ${Buffer.from('me:hush').toString('base64')}`;
    expect(server.revocations.map(({ authorization }) => authorization)).toEqual([basic, basic]);
  });

  it('is forgotten here whatever revoking it meets', async () => {
    const metadata = (base: string) => ({ revocation_endpoint: `${base}/revoke` });
    await setUp({ metadata });
    await logIn();
    const login = readFileSync(loginFile());
    for (const [faults, said] of [
      [{ revocation: { status: 503 } }, 'could not be revoked: The authorization server failed: HTTP 503'],
      [{ revocation: { status: 400, error: 'invalid_client' } }, 'failed: invalid_client'],
      [{ metadata: { revocation_endpoint: 'http://far.example/revoke' } }, 'is not https.'],
      // Some accept access tokens only with the credentials they were issued for: these end by themselves.
      [{ revocation: { status: 400, error: 'unsupported_token_type', kind: 'access_token' } }, null],
    ] as const) {
      writeFileSync(loginFile(), login, { mode: 0o600 });
      server.revocations.length = 0;
      server.change({ metadata, ...faults });
      const run = await runProgram(home, ['mcp', 'logout', 'far']);
      expect(run).toMatchObject({ status: 0 });
      if (said === null) expect(run.stderr).toBe("Logged out of 'far'.\n");
      else expect(run.stderr).toContain(said);
      if (said === null) expect(server.revocations).toHaveLength(2);
      expect(run.stderr).toContain("Logged out of 'far'.");
      expect(existsSync(loginFile())).toBe(false);
      for (const secret of server.secrets) expect(run.stderr).not.toContain(secret);
    }
  });

  it('is in a file that only the user can read, and nowhere else', async () => {
    await setUp();
    const login = await logIn();
    model = await startScriptedServer((_request, index) =>
      index === 0 ? { calls: [{ name: 'mcp__far__add', args: { text: 'milk' } }] } : { text: 'done' },
    );
    const settings = { provider: 'openai', model: 'scripted', api_base: model.base };
    home.writeConfig(JSON.stringify({ ...settings, mcpServers: { far: { url: server.url } } }));
    const asked = await runProgram(home, ['ask', '-y', '--debug', 'go']);
    expect(asked).toMatchObject({ status: 0, stdout: 'done\n' });
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('behind the login');
    expect(statSync(loginFile()).mode & 0o777).toBe(0o600);
    expect(statSync(join(home.data, 'mcp-logins')).mode & 0o777).toBe(0o700);
    const said = [login.stdout, login.stderr, asked.stderr, JSON.stringify(model.requests), ...filesBut(loginFile())];
    for (const secret of server.secrets) expect(said.filter((text) => text.includes(secret))).toEqual([]);
  });

  it('is suggested to a model that calls a tool without one, and does not end the turn', async () => {
    await setUp();
    model = await startScriptedServer(() => ({ text: 'done' }));
    const settings = { provider: 'openai', model: 'scripted', api_base: model.base };
    home.writeConfig(JSON.stringify({ ...settings, mcpServers: { far: { url: server.url } } }));
    const asked = await runProgram(home, ['ask', 'go']);
    expect(asked).toMatchObject({ status: 0, stdout: 'done\n' });
    expect(asked.stderr).toContain("The server 'far': It requires a login. Run: hi mcp login far");
  });

  it('is suggested when its server is added, and the tools are there after it', async () => {
    await setUp();
    home.writeConfig('{}');
    const added = await runProgram(home, ['mcp', 'add', 'far', server.url]);
    expect(added).toMatchObject({ status: 0, stdout: '' });
    expect(added.stderr).toMatch(/^The server 'far': It requires a login\. Run: hi mcp login far\nAdded 'far' to /);
    expect((await runProgram(home, ['mcp', 'test', server.url])).stderr).toContain(
      `Add it with a name, then log in: hi mcp add NAME ${server.url}`,
    );
    await logIn();
    expect(await call()).toMatchObject({ status: 0 });
  });

  it('asks for more scopes if a tool needs them, keeps those it had, and registers once for the same address', async () => {
    await setUp({ toolScope: 'write' });
    const first = await logIn();
    expect((await call()).stderr).toContain("It requires a login with more scopes: 'write'. Run: hi mcp login far");
    const { page } = await logIn();
    expect(page?.searchParams.get('scope')).toBe('read write');
    expect(page?.searchParams.get('redirect_uri')).toBe(first.page?.searchParams.get('redirect_uri'));
    expect(server.registrations).toHaveLength(1);
    expect((await call()).stdout).toContain('behind the login');
  });

  it('is not attempted where it is impossible', async () => {
    await setUp({}, { headers: { Authorization: 'Bearer own' } });
    expect((await logIn()).stderr).toContain('its entry has an Authorization header');
    home.writeConfig(JSON.stringify({ mcpServers: { far: { url: 'http://192.0.2.1/mcp' } } }));
    expect((await logIn()).stderr).toContain("others could read the login on the network to 'http://192.0.2.1/mcp'");
    home.writeConfig(JSON.stringify({ mcpServers: { far: { command: 'true' } } }));
    expect((await logIn()).stderr).toContain('it is a program');
    expect(await runProgram(home, ['mcp', 'login', 'fra'])).toMatchObject({ status: 2 });
  });
});

describe('a login that expires', () => {
  it('is renewed before a call', async () => {
    await setUp(EXPIRED);
    await logIn();
    await sleep(1000);
    expect(await call()).toMatchObject({ status: 0 });
    expect(server.tokenRequests.map(({ params }) => params.grant_type)).toEqual([
      'authorization_code',
      'refresh_token',
    ]);
    expect(server.tokenRequests[1]?.params.resource).toBe(server.url);
  });

  it('is renewed by one process at a time, and the others use the result', async () => {
    await setUp({ ...EXPIRED, pause: 300 });
    await logIn();
    await sleep(1000);
    server.change({ pause: 300, life: 3600 });
    const runs = await Promise.all([call(), call(), call()]);
    expect(runs.map(({ status }) => status)).toEqual([0, 0, 0]);
    expect(server.tokenRequests.map(({ status }) => status)).toEqual([200, 200]);
    expect(new Set(server.shown).size).toBe(1);
    expect(readdirSync(join(home.data, 'mcp-logins'))).toEqual(['far.json']);
  });

  it('is renewed once if the server refuses it, and kept if the authorization server fails temporarily', async () => {
    await setUp();
    await logIn();
    server.revoke();
    expect(await call()).toMatchObject({ status: 0 });
    expect(server.tokenRequests).toHaveLength(2);
    server.revoke();
    server.change({ metadata: { token_endpoint: `${server.base}/elsewhere` } });
    expect((await call()).stderr).toContain('The login cannot be renewed');
    server.change({});
    expect(await call()).toMatchObject({ status: 0 });
  });

  it('is not sent to another server with that name, and ends if it cannot be renewed, which is tried only once', async () => {
    await setUp();
    await logIn();
    const other = await OAuthServer.open();
    home.writeConfig(JSON.stringify({ mcpServers: { far: { url: other.url } } }));
    expect((await call()).stderr).toContain('It requires a login. Run: hi mcp login far');
    await other.close();
    home.writeConfig(JSON.stringify({ mcpServers: { far: { url: server.url } } }));
    expect(await call()).toMatchObject({ status: 0 });
    server.revoke();
    server.forgetRefreshTokens();
    expect((await call()).stderr).toContain('The login has expired. Run: hi mcp login far');
    expect((await call()).stderr).toContain('Run: hi mcp login far');
    expect(server.tokenRequests).toHaveLength(2);
    expect((await logIn()).status).toBe(0);
    expect(await call()).toMatchObject({ status: 0 });
  });
});

describe('the redirect of a login', () => {
  it('with another state is refused, and the right one is still awaited', async () => {
    await setUp();
    const statuses: number[] = [];
    const { status } = await logIn(async (page) => {
      const redirect = new URL(page).searchParams.get('redirect_uri');
      for (const more of ['?code=stolen&state=other', '?code=stolen', '/../', ''])
        statuses.push((await fetch(`${redirect}${more}`)).status);
      statuses.push((await fetch(page)).status);
    });
    expect(statuses).toEqual([400, 400, 400, 400, 200]);
    expect(status).toBe(0);
    expect(server.tokenRequests.map(({ params }) => params.code)).not.toContain('stolen');
  });

  it.each([
    ['from another issuer', (answer: URLSearchParams) => answer.set('iss', 'https://evil.example.com')],
    ['from nobody', (answer: URLSearchParams) => answer.delete('iss')],
  ])('%s is not used', async (_, answer) => {
    await setUp({ answer });
    const login = await logIn();
    expect(login).toMatchObject({ status: 5 });
    expect(login.stderr).toMatch(/The login failed: .*iss/i);
    expect(server.tokenRequests).toEqual([]);
    expect(existsSync(loginFile())).toBe(false);
  });

  it('that reports an error is shown, unless it comes from another issuer', async () => {
    const no = (answer: URLSearchParams): void => {
      answer.delete('code');
      answer.set('error', 'access_denied');
      answer.set('error_description', 'The user said no.');
    };
    await setUp({ answer: no });
    expect((await logIn()).stderr).toContain('The login failed: access_denied: The user said no.');
    server.change({
      answer: (answer) => {
        no(answer);
        answer.set('iss', 'https://evil.example.com');
      },
    });
    expect((await logIn()).stderr).not.toContain('The user said no.');
  });

  it('can be pasted if the browser is on another machine', async () => {
    await setUp();
    const answers: string[] = [];
    const login = await logIn(
      async (page) => {
        const { headers } = await fetch(page, { redirect: 'manual' });
        answers.push(headers.get('location') ?? '');
      },
      {
        input: null,
        during: async ({ write }) => {
          while (answers.length === 0) await sleep(20);
          write('http://127.0.0.1:1/callback?code=x&state=y\n');
          write(`${answers[0]}\n`);
        },
      },
    );
    expect(login.stderr).toContain('That is not the address of this login, which starts with http://127.0.0.1:');
    expect(login).toMatchObject({ status: 0 });
    expect(await call()).toMatchObject({ status: 0 });
  });
});

describe('an authorization server', () => {
  it('gets the secret of a client only if the client belongs to it', async () => {
    const oauth = { clientId: 'known', clientSecret: 'a-secret-of-known', issuer: 'https://login.example.com' };
    await setUp({}, { oauth });
    const refused = await logIn();
    expect(refused).toMatchObject({ status: 5, page: null });
    expect(refused.stderr).toContain("the client 'known' belongs to 'https://login.example.com'");
    home.writeConfig(
      JSON.stringify({ mcpServers: { far: { url: server.url, oauth: { ...oauth, issuer: server.base } } } }),
    );
    expect(await logIn()).toMatchObject({ status: 0 });
    expect(server.registrations).toEqual([]);
    const basic = `Basic ${Buffer.from('known:a-secret-of-known').toString('base64')}`;
    expect(server.tokenRequests).toEqual([expect.objectContaining({ authorization: basic })]);
  });

  it('cannot make the browser run anything', async () => {
    const marks = '$(touch pwned);`touch pwned`&touch pwned|x"\'--help';
    await setUp({ metadata: (base) => ({ authorization_endpoint: `${base}/authorize?x=${marks}` }) });
    const folder = join(home.folder, 'programs');
    mkdirSync(folder);
    const opener = join(folder, 'xdg-open');
    writeFileSync(opener, `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > '${join(folder, 'opened')}'\n`);
    chmodSync(opener, 0o755);
    const env = { PATH: `${folder}:${process.env.PATH}`, DISPLAY: ':0' };
    const login = await logIn(
      async () => {
        while (!existsSync(join(folder, 'opened'))) await sleep(20);
        await sleep(50);
        const [count, page = ''] = readFileSync(join(folder, 'opened'), 'utf8').split('\n');
        expect(count).toBe('1');
        await fetch(page);
      },
      { env },
    );
    expect(login).toMatchObject({ status: 0 });
    expect(login.stderr).toContain('It was opened in your browser.');
    expect(existsSync(join(home.work, 'pwned'))).toBe(false);
  });
});

/** The text of all files of the home but this one. */
function filesBut(path: string): readonly string[] {
  return readdirSync(home.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => file !== path)
    .map((file) => readFileSync(file, 'latin1'));
}
