import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../lib/chat/json.js';
import { asObjectSchema } from '../../lib/cli/commands/structure.js';
import { SCHEMAS } from '../support/answer-schemas.js';
import { type Home, makeHome, PROGRAM, RUNTIME, type RunOptions, runProgram } from '../support/program.js';
import { cases } from '../support/properties.js';
import { openTerminal } from '../support/terminal.js';
import { chatServer, refusal, type Scripted, type VendorServer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

let home: Home;
let server: VendorServer;

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  home.remove();
});

const [chat] = dialects;
if (chat === undefined) throw new Error('There are no dialects.');

async function start(dialect: Dialect, ...answers: readonly Scripted[]): Promise<void> {
  server = await chatServer(...answers);
  const { provider, settings, path } = dialect;
  const api_base = `${server.url}${path}`;
  const options = provider === 'openai' && settings.options ? { openai: settings.options } : {};
  home = makeHome({ provider, model: 'claude-like', api_key: 'k', api_base, ...options });
}
const hi = (args: readonly string[], options: RunOptions = {}) => runProgram(home, ['ask', ...args], options);
const FIELDS = 'name, age int, tags []';
const ANN = { name: 'Ann', age: 3, tags: ['a'] };
const says = (...values: readonly JsonValue[]) => values.map((value) => chat.text(JSON.stringify(value)));
const bodyOf = (index: number): JsonObject => server.requests[index]?.body ?? {};

/** Where each protocol has the schema of the answer, by its documentation. */
const formatOf: Readonly<Record<string, (body: JsonObject) => unknown>> = {
  'OpenAI Chat Completions': ({ response_format }) => response_format,
  'OpenAI Responses': ({ text }) => Object(text).format,
  Anthropic: ({ output_config }) => Object(output_config).format,
  Gemini: ({ generationConfig }) => generationConfig,
  Ollama: ({ format }) => format,
};

const PROPERTIES = { properties: { name: { type: 'string' }, age: { type: 'integer' }, tags: { type: 'array' } } };
const FORMATS: Readonly<Record<string, JsonObject>> = {
  'OpenAI Chat Completions': { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: PROPERTIES } },
  'OpenAI Responses': { type: 'json_schema', name: 'answer', strict: true, schema: PROPERTIES },
  Anthropic: { type: 'json_schema', schema: { ...PROPERTIES, additionalProperties: false } },
  Gemini: { responseMimeType: 'application/json', responseJsonSchema: PROPERTIES },
  Ollama: { ...PROPERTIES, required: ['name', 'age', 'tags'] },
};

describe.each(dialects)('$title', (dialect) => {
  it('is sent the schema in its own field, and stdout contains only the JSON', async () => {
    await start(dialect, dialect.text('{"name": "Ann", ', '"age": 3, "tags": ["a"]}'));
    const run = await hi(['--schema', FIELDS, '--no-tools', 'Who?']);
    expect(run).toEqual({ status: 0, stdout: '{"name": "Ann", "age": 3, "tags": ["a"]}\n', stderr: '' });
    expect(formatOf[dialect.title]?.(bodyOf(0))).toMatchObject(FORMATS[dialect.title] ?? {});
    await hi(['--no-tools', 'and in words?']);
    expect(formatOf[dialect.title]?.(bodyOf(1)) ?? {}).not.toMatchObject(FORMATS[dialect.title] ?? {});
  });

  it('may call tools before it answers', async () => {
    await start(
      dialect,
      dialect.tools({ name: 'read_file', args: { path: 'who.txt' } }),
      dialect.text(JSON.stringify(ANN)),
    );
    home.write('who.txt', 'Ann is three.');
    const run = await hi(['--schema', FIELDS, '--json', '--tools', 'read_file', 'Who?']);
    expect(run.status).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ data: ANN, tool_calls: [{ name: 'read_file' }] });
    expect(JSON.stringify(bodyOf(1))).toContain('Ann is three.');
  });
});

/** Two of them; with HI_ROUNDS=15 all. Each is read in `spec/cli/commands/structure`. */
const TRIED = SCHEMAS.map((one, at) => ({ ...one, dialect: dialects[at % dialects.length] ?? chat })).filter(
  (_, at) => at % 15 < cases(1),
);

describe('an answer by one of thirty schemas', () => {
  it.each(TRIED)(
    '$title: what does not fit is asked for again, what fits is printed ($dialect.title)',
    async ({ schema, fits, wrong, dialect }) => {
      const { name } = asObjectSchema(schema, false);
      const wrapped = (value: JsonValue) => JSON.stringify(name === null ? value : { [name]: value });
      await start(dialect, dialect.text(wrapped(wrong)), dialect.text(wrapped(fits)));
      home.write('schema.json', JSON.stringify(schema, null, 2));
      const run = await hi(['--schema', 'schema.json', '--no-tools', 'Go on.']);
      expect([run.status, run.stderr]).toEqual([0, expect.stringContaining('The answer does not fit the schema')]);
      expect(JSON.parse(run.stdout)).toEqual(fits);
      expect(server.requests).toHaveLength(2);
    },
  );
});

describe('an answer', () => {
  it('that does not fit is asked for once more with the errors', async () => {
    await start(chat, chat.text('{"name": "Ann", "age": "three"}'));
    const run = await hi(['--schema', FIELDS, '--no-tools', 'Who?']);
    expect(run).toMatchObject({ status: 5, stdout: '' });
    expect(run.stderr).toMatch(
      /\{"name": "Ann", "age": "three"\}\nhi: The answer does not fit the schema: .*'age' must be integer, not "three"/,
    );
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(bodyOf(1))).toMatch(/'age' must be integer, not \\+"three\\+".{0,40}Answer again/);
  });

  it('is taken out of a code fence among words', async () => {
    await start(chat, chat.text('Here it is:\n\n```\n{"n": 1.10}\n```\nAnything else?'));
    const run = await hi(['--schema', 'n float', 'Go on.']);
    expect(run).toEqual({ status: 0, stdout: '{"n": 1.10}\n', stderr: '' });
  });

  it('is a list with --schema-multi', async () => {
    await start(chat, ...says({ items: [ANN, ANN] }));
    const run = await hi(['--schema-multi', FIELDS, 'Who?']);
    expect(JSON.parse(run.stdout)).toEqual([ANN, ANN]);
    expect(bodyOf(0).response_format).toMatchObject({
      json_schema: { schema: { properties: { items: { type: 'array', items: PROPERTIES } } } },
    });
  });

  it('may contain recursive lists', async () => {
    const node = {
      type: 'object',
      properties: { next: { $ref: '#' }, k: { $ref: '#/$defs/k' } },
      $defs: { k: { type: 'integer' } },
    };
    await start(chat, ...says({ items: [{ next: { k: 1 } }] }, { items: [{ next: { k: 'x' } }] }));
    const run = await hi(['--schema-multi', JSON.stringify(node), 'Go on.']);
    expect(JSON.parse(run.stdout)).toEqual([{ next: { k: 1 } }]);
    expect(await hi(['--schema-multi', JSON.stringify(node), 'Go on.'])).toMatchObject({ status: 5, stdout: '' });
  });

  it('that was cut off is not requested again', async () => {
    await start(chat, chat.length('{"name": "An'));
    const run = await hi(['--schema', FIELDS, '--json', 'Who?']);
    expect(run.status).toBe(5);
    expect(JSON.parse(run.stdout)).toMatchObject({
      error: { code: 'malformed', message: expect.stringContaining('cut off') },
    });
    expect(run.stderr).toContain('{"name": "An');
    expect(server.requests).toHaveLength(1);
  });

  it('is in the reports for programs, and the usage sums both requests', async () => {
    await start(chat, ...says({ name: 'Ann' }, ANN, ANN));
    const report = JSON.parse((await hi(['--schema', FIELDS, '--json', 'Who?'])).stdout);
    expect(report).toMatchObject({ data: ANN, usage: { input_tokens: 14, output_tokens: 6 } });
    const lines = (await hi(['--schema', FIELDS, '-o', 'stream-json', 'Who?'])).stdout.trimEnd().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ type: 'result', data: ANN });
    expect(lines.map((line) => JSON.parse(line).type)).not.toContain('print');
  });

  it('is in the history with the second question about the errors', async () => {
    await start(chat, ...says({ name: 'Ann' }, ANN));
    await hi(['--schema', FIELDS, 'Who?']);
    const { stdout } = await runProgram(home, ['history', '--json']);
    expect(JSON.parse(stdout).map(({ role }: JsonObject) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(stdout).not.toContain('It must fit this JSON Schema');
  });

  it('has no name twice, and is not checked for ever against a pattern that backtracks', async () => {
    await start(chat, chat.text('{"a": "x", "b": [{"a": 1, "a": "y"}], "a": "z"}'), ...says({ a: 'z' }));
    const twice = await hi(['--schema', '{"type":"object"}', 'Who?']);
    expect(twice).toMatchObject({ status: 0, stdout: '{"a":"z"}\n' });
    expect(twice.stderr).toContain("it has 'a' twice in one object");
    await server[Symbol.asyncDispose]();
    home.remove();
    await start(chat, ...says({ a: `${'a'.repeat(40)}!` }));
    const schema = '{"type":"object","properties":{"a":{"type":"string","pattern":"^(a+)+$"}}}';
    const endless = await hi(['--schema', schema, 'Who?']);
    expect(endless).toMatchObject({ status: 5, stdout: '' });
    expect(endless.stderr).toContain('a pattern of the schema takes too long');
  });

  it('that is interrupted leaves nothing on stdout', async () => {
    const { chunks = [], ...answer } = chat.text('{"name": "An', 'n"}');
    // Without what ends it, the answer goes on for ever.
    await start(chat, { ...answer, chunks: chunks.filter((chunk) => String(chunk).includes('An')), end: 'never' });
    const child = spawn(RUNTIME, [PROGRAM, 'ask', '--schema', FIELDS, 'Who?'], { env: home.env });
    child.stdin.end();
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await new Promise((resolve) => setTimeout(resolve, 200));
    child.kill('SIGINT');
    expect([await once(child, 'exit'), printed]).toEqual([[130, null], '']);
  });

  it('goes to a terminal unchanged, too', async () => {
    await start(chat, ...says(ANN));
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'ask', '--schema', FIELDS, 'Who?'], {
      env: { ...home.env, FORCE_COLOR: '1' },
      cwd: home.work,
      columns: 100,
      rows: 20,
    });
    try {
      await terminal.until(JSON.stringify(ANN));
    } finally {
      await terminal.close();
    }
  });
});

describe('the question with --schema', () => {
  it.each([
    ['a field of an unknown type', ['--schema', 'age itn'], "Unknown type 'itn' of the field 'age'"],
    ['a file that is no JSON', ['--schema', 'notes.txt'], "'notes.txt' is not JSON"],
    ['both', ['--schema', 'a', '--schema-multi', 'a'], 'cannot be used together'],
  ])('is refused with %s, before any request', async (_title, args, message) => {
    await start(chat, ...says({}));
    home.write('notes.txt', 'just words');
    const run = await hi([...args, 'Go on.']);
    expect(run).toMatchObject({ status: 2, stdout: '' });
    expect(run.stderr).toContain(message);
    expect(server.requests).toEqual([]);
  });

  it('may come from stdin, from files and from a command of the user', async () => {
    await start(chat, ...says(ANN));
    home.write('ann.txt', 'Ann is 3.');
    mkdirSync(join(home.config, 'commands'), { recursive: true });
    writeFileSync(join(home.config, 'commands', 'who.md'), 'Who is $ARGUMENTS?');
    for (const run of [
      await hi(['--schema', FIELDS, '-'], { input: 'Who is it?' }),
      await hi(['--schema', FIELDS, '-f', 'ann.txt', 'Who?'], { input: 'Ann is here.' }),
      await hi(['--schema', FIELDS, '--command', 'who', 'Ann']),
      await runProgram(home, ['-p', 'Who?', '--schema', FIELDS]),
    ])
      expect(run).toEqual({ status: 0, stdout: `${JSON.stringify(ANN)}\n`, stderr: '' });
    expect(JSON.stringify(bodyOf(2))).toContain('Who is Ann?');
  });
});

describe('a server that refuses', () => {
  const refusing =
    (message: string): Scripted =>
    (body) =>
      body.response_format === undefined ? chat.text(JSON.stringify(ANN)) : refusal(400, { error: { message } });

  it('all schemas is sent them in words, at once the next time', async () => {
    await start(chat, refusing("Unsupported parameter: 'response_format' is not supported with this model."));
    const run = await hi(['--schema', FIELDS, 'Who?']);
    expect(run).toMatchObject({ status: 0, stdout: `${JSON.stringify(ANN)}\n` });
    expect(run.stderr).toContain('given in words');
    expect((await hi(['--schema', FIELDS, 'Who?'])).stderr).toBe('');
    expect(server.requests).toHaveLength(3);
    expect(JSON.stringify(bodyOf(2).messages)).toContain('It must fit this JSON Schema');
  });

  it('this schema is sent it in words, at once the next time, and another one in its field', async () => {
    await start(chat, refusing("Invalid schema for response_format 'answer': In context=(), 'name' is too long."));
    for (const [fields, requests] of [
      [FIELDS, 2],
      [FIELDS, 3],
      [`${FIELDS}, more []`, 6],
    ] as const) {
      await hi(['--schema', fields, 'Who?']);
      expect(server.requests).toHaveLength(requests);
    }
  });
});
