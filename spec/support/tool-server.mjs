// @ts-nocheck: a program of its own, which Node runs as it is
// A server of the Model Context Protocol (2025-11-25) over stdio, whose behaviour is the JSON file that its argument names. It knows no SDK, so that it
// can do what no SDK would.
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const file = process.argv[2];
const read = () => JSON.parse(readFileSync(file, 'utf8'));
const note = (text) => appendFileSync(`${file}.log`, `${text}\n`);
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

async function call(id, { name, _meta, arguments: args }) {
  const plan = scenario.results?.[name] ?? { content: [{ type: 'text', text: JSON.stringify(args) }] };
  const { progress = [], wait = 0, hangs, exits, endless, letters, changes, ...result } = plan;
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
  if (changes) {
    Object.assign(scenario, changes);
    send({ method: 'notifications/tools/list_changed' });
  }
  while (endless) {
    if (!process.stdout.write('x'.repeat(65536))) await new Promise((done) => process.stdout.once('drain', done));
  }
  if (letters) result.content = [{ type: 'text', text: 'x'.repeat(letters) }];
  if (!hangs) send({ id, result });
}

const answers = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: scenario.capabilities ?? { tools: {}, prompts: {}, resources: {} },
    serverInfo: { name: 'spec', version: '1' },
    ...(scenario.instructions && { instructions: scenario.instructions }),
  }),
  'tools/list': () => offered(scenario.tools ?? [], 'tools'),
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
    if (scenario.silent) return;
    const { id, method, params = {} } = JSON.parse(line);
    if (method === 'tools/call') return void call(id, params);
    if (id === undefined) return;
    const answer = answers[method]?.(params);
    send(answer === undefined ? { id, error: { code: -32601, message: 'Method not found' } } : { id, result: answer });
  })
  .on('close', () => {
    note('end of input');
    if (!scenario.stubborn) process.exit(0);
  });
