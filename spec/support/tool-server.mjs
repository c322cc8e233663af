// @ts-nocheck: a program of its own, which Node runs as it is
// A server of the Model Context Protocol (2025-11-25, or 2026-07-28) over stdio, whose behaviour is the JSON file that its argument names. It knows no SDK, so that it
// can do what no SDK would.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const file = process.argv[2];
const read = () => JSON.parse(readFileSync(file, 'utf8'));
const note = (text) => {
  try {
    appendFileSync(`${file}.log`, `${text}\n`);
  } catch (failure) {
    // In a sandbox nothing can be noted.
    if (failure.code !== 'EROFS') throw failure;
  }
};
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

note(`start ${process.pid} ${JSON.stringify(process.env)}`);
const scenario = read();
if (scenario.stderr) process.stderr.write(scenario.stderr);
if (scenario.noise) process.stdout.write(scenario.noise);
if (scenario.exits) process.exit(scenario.exits);
if (scenario.stubborn) {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
  setInterval(() => {}, 1000);
}

function offered(list, kind) {
  if (!Array.isArray(list)) return list;
  return { [kind]: list };
}

/** What comes of reading a file, of writing one, and of asking an address. */
async function tried({ reads = [], writes = [], fetches = [] }) {
  const outcome = async (name, work) => [
    name,
    await Promise.resolve()
      .then(work)
      .catch(({ code, cause }) => code ?? cause?.code ?? 'failed'),
  ];
  const outcomes = await Promise.all([
    ...reads.map((path) => outcome(path, () => readFileSync(path, 'utf8'))),
    ...writes.map((path) => outcome(path, () => writeFileSync(path, 'x') ?? 'written')),
    ...fetches.map((url) => outcome(url, async () => `status ${(await fetch(url)).status}`)),
  ]);
  return JSON.stringify(Object.fromEntries(outcomes));
}

/** What the client was asked and has not answered yet, by id, and the subscriptions of the newer form. */
const asked = new Map();
const subscriptions = [];

/** Says that the tools are others now: to whom it wants to know it, in the newer form. */
function change(changes) {
  Object.assign(scenario, changes);
  const method = 'notifications/tools/list_changed';
  if (!scenario.modern) return void send({ method });
  for (const id of subscriptions) send({ method, params: { _meta: { 'io.modelcontextprotocol/subscriptionId': id } } });
}

/** What the user said to each of these questions; null where the call comes again with the answers. */
async function answersTo(id, questions, inputResponses) {
  if (!scenario.modern)
    return await Promise.all(
      questions.map(
        (params, at) =>
          new Promise((resolve) => {
            asked.set(`ask-${id}-${at}`, resolve);
            send({ id: `ask-${id}-${at}`, method: 'elicitation/create', params });
          }),
      ),
    );
  if (inputResponses) return Object.values(inputResponses);
  const requests = questions.map((params, at) => [`q${at}`, { method: 'elicitation/create', params }]);
  answer(id, { resultType: 'input_required', inputRequests: Object.fromEntries(requests), requestState: 'state' });
  return null;
}

const answer = (id, result) => send({ id, result: scenario.modern ? { resultType: 'complete', ...result } : result });

async function call(id, { name, _meta, arguments: args, inputResponses }) {
  const plan = scenario.results?.[name] ?? { content: [{ type: 'text', text: JSON.stringify(args) }] };
  const { progress = [], wait = 0, hangs, exits, endless, letters, changes, elicits, error, tries, ...result } = plan;
  for (const text of progress) {
    await sleep(wait);
    const { progressToken } = _meta ?? {};
    if (progressToken !== undefined)
      send({
        method: 'notifications/progress',
        params: { progressToken, progress: progress.indexOf(text) + 1, message: text },
      });
  }
  if (progress.length === 0) await sleep(wait);
  if (exits) process.exit(exits);
  if (changes) change(changes);
  if (elicits) {
    const given = await answersTo(id, elicits, inputResponses);
    if (given === null) return;
    result.content = [{ type: 'text', text: JSON.stringify(given) }];
  }
  if (error) return void send({ id, error });
  while (endless) {
    if (!process.stdout.write('x'.repeat(65536))) await new Promise((done) => process.stdout.once('drain', done));
  }
  if (tries) result.content = [{ type: 'text', text: await tried(tries) }];
  if (letters) result.content = [{ type: 'text', text: 'x'.repeat(letters) }];
  if (!hangs) answer(id, result);
}

const answers = {
  initialize: () =>
    !scenario.modern?.only && {
      protocolVersion: '2025-11-25',
      capabilities: scenario.capabilities ?? { tools: {}, prompts: {}, resources: {} },
      serverInfo: { name: 'spec', version: '1' },
      ...(scenario.instructions && { instructions: scenario.instructions }),
    },
  'server/discover': () =>
    scenario.modern && {
      ttlMs: 0,
      cacheScope: 'private',
      supportedVersions: ['2026-07-28'],
      capabilities: scenario.capabilities ?? { tools: { listChanged: true } },
    },
  'subscriptions/listen': (params, id) => {
    subscriptions.push(id);
    const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
    send({
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta, notifications: params.notifications },
    });
    const { later } = scenario;
    if (later) setTimeout(() => change(later.changes), later.after);
    return null;
  },
  'tools/list': () => ({
    ...offered(scenario.tools ?? [], 'tools'),
    ...(scenario.modern && { ttlMs: scenario.modern.ttlMs ?? 0, cacheScope: 'private' }),
  }),
  'prompts/list': () => offered(scenario.prompts ?? [], 'prompts'),
  'resources/list': () => offered(scenario.resources ?? [], 'resources'),
  'resources/templates/list': () => ({ resourceTemplates: scenario.templates ?? [] }),
  'prompts/get': ({ name, arguments: args }) => ({
    messages: scenario.messages?.[name] ?? [
      {
        role: 'user',
        content: { type: 'text', text: `${scenario.texts?.[name] ?? name} ${JSON.stringify(args ?? {})}` },
      },
    ],
  }),
  'resources/read': ({ uri }) => ({
    contents: [
      { uri, ...(scenario.contents?.[uri] ?? { mimeType: 'text/plain', text: scenario.texts?.[uri] ?? uri }) },
    ],
  }),
};

createInterface({ input: process.stdin })
  .on('line', async (line) => {
    note(line);
    const { id, method, params = {} } = JSON.parse(line);
    if (scenario.silent === true || (method !== undefined && scenario.silent === method)) return;
    if (method === 'tools/call') return void call(id, params);
    if (method === undefined) return void asked.get(id)?.(JSON.parse(line).result);
    if (id === undefined) return;
    const said = answers[method]?.(params, id);
    if (said === null) return;
    if (said) answer(id, said);
    else send({ id, error: { code: -32601, message: 'Method not found' } });
  })
  .on('close', () => {
    note('end of input');
    if (!scenario.stubborn) process.exit(0);
  });
