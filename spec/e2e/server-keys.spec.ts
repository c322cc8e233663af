import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { KNOWN_SERVERS } from '../../lib/servers/known-servers.js';
import { type ManyServers, manyServers } from '../support/many-servers.js';
import { makeHome, runProgram } from '../support/program.js';
import { refusal } from '../support/vendor-server.js';
import { dialects } from '../support/vendors.js';

/** How many servers are configured. */
const COUNT = 10;

const keyOf = (name: string): string => `sk-${name}-${'0123456789'.repeat(3)}`;
const tokenOf = (name: string): string => `token-${name}-${'abcdefghij'.repeat(3)}`;
const DIALECTS = dialects.filter(({ title }) => title !== 'OpenAI Responses');

/** Ten servers, half with a key of their own and half by a command that prints it, each with a secret header. */
const SERVERS = Object.fromEntries(
  Array.from({ length: COUNT }, (_, at) => {
    const name = `s${at}`;
    const dialect = DIALECTS[at % DIALECTS.length];
    const api_key = at % 2 === 0 ? keyOf(name) : `!printf %s-%s ${keyOf(name).slice(0, 5)} ${keyOf(name).slice(6)}`;
    const headers = { 'X-Secret': tokenOf(name) };
    const api_base = `http://${name}.example${dialect?.path ?? ''}`;
    return [name, { provider: dialect?.provider, api_base, api_key, headers, model: 'm' }];
  }),
);

const SECRETS = Object.keys(SERVERS).flatMap((name) => [
  { name, secret: keyOf(name) },
  { name, secret: tokenOf(name) },
]);

/** What every vendor's variable holds; none of these accounts is asked. */
const VARIABLES = Object.fromEntries(
  [
    ...['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    ...['OLLAMA_API_KEY', 'HI_API_KEY', 'OPENAI_ORG_ID', 'OPENAI_PROJECT_ID'],
    ...KNOWN_SERVERS.map(({ keyVariable }) => keyVariable),
  ].map((name) => [name, `${name}-${'9876543210'.repeat(3)}`]),
);

/** The variable of the service at this host. */
const ownOf = (host: string): string | undefined =>
  VARIABLES[KNOWN_SERVERS.find(({ address }) => address({})?.includes(`/${host}/`))?.keyVariable ?? ''];

let servers: ManyServers;
/** Whether all but the last server fail, each with all that it was sent in its error. */
let fails = false;
beforeAll(async () => {
  servers = await manyServers(({ host, method, headers }) => {
    const [name = ''] = host.split('.');
    const heard = JSON.stringify(headers);
    if (method === 'GET') return { chunks: ['{"data":[{"id":"m"}],"models":[{"name":"models/m","model":"m"}]}'] };
    if (fails && name !== `s${COUNT - 1}`) return refusal(401, { error: { message: `Not this key: ${heard}` } });
    return DIALECTS[Number(name.slice(1)) % DIALECTS.length]?.text(`heard ${heard}`) ?? null;
  });
});
afterAll(async () => await servers[Symbol.asyncDispose]());

const filesBelow = (folder: string): string =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => readFileSync(join(parentPath, name)).toString('latin1'))
        .join('\n')
    : '';

it('no key of ten servers is ever sent to another, shown, logged or kept, though each repeats what it heard', async () => {
  const home = makeHome({ servers: SERVERS, small_model: 's3/m', fallback: Object.keys(SERVERS).slice(1) });
  const env = { ...servers.env, ...VARIABLES };
  try {
    const runs = [];
    for (const name of ['s0', 's1', 's2', 's3'])
      runs.push(await runProgram(home, ['ask', '--debug', '-m', name, 'hello'], { env }));
    fails = true;
    runs.push(await runProgram(home, ['ask', '--debug', 'who answers?'], { env }));
    fails = false;
    expect(runs.map(({ status }) => status)).toEqual(runs.map(() => 0));
    runs.push(await runProgram(home, ['chat'], { input: '/model\n', env }));
    runs.push(await runProgram(home, ['compact', '--strategy', 'replace'], { env }));
    runs.push(await runProgram(home, ['config', 'show'], { env }));
    runs.push(await runProgram(home, ['history', '--json'], { env }));
    const wrong = servers.requests.flatMap(({ host, headers, body, path }) => {
      const sent = JSON.stringify([headers, body, path]);
      const others = SECRETS.filter(({ name, secret }) => sent.includes(secret) && !host.startsWith(`${name}.`));
      const foreign = Object.values(VARIABLES).filter((value) => sent.includes(value) && value !== ownOf(host));
      return [...others.map(({ name }) => `${host}: of ${name}`), ...foreign.map((value) => `${host}: ${value}`)];
    });
    expect(wrong).toEqual([]);
    const hosts = servers.requests.map(({ host }) => host).filter((host) => host.endsWith('.example'));
    expect(new Set(hosts).size).toBe(COUNT);
    const shown = runs.map(({ stdout, stderr }) => stdout + stderr).join('\n');
    const kept = filesBelow(home.data) + filesBelow(join(home.folder, 'cache'));
    for (const secret of [...SECRETS.map((one) => one.secret), ...Object.values(VARIABLES)]) {
      expect(shown).not.toContain(secret);
      expect(kept).not.toContain(secret);
    }
  } finally {
    home.remove();
  }
}, 60_000);
