import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import type { Command } from 'commander';
import { isJsonObject, type JsonValue } from '../../lib/chat/json.js';
import { emptyWorld } from '../../lib/cli/base/world.js';
import { makeProgram } from '../../lib/cli/program.js';
import { EXIT_STATUS } from '../../lib/errors.js';
import { type Compacting, compacting, LAST_STRAW, turns } from '../support/compacting.js';
import { chatgptConversation } from '../support/exports.js';
import { textTool, toolServer } from '../support/tool-server.js';

const SCHEMAS = JSON.parse(readFileSync('docs/output.schema.json', 'utf8'));

/**
 * The schemas as this version must fulfil them: readers of a history accept fields of later versions, but none may come
 * without its schema.
 */
const checker = new Ajv2020({ allErrors: true, allowUnionTypes: true });
ajvFormats.default(checker);
checker.addSchema(Object(closed(SCHEMAS)), 'outputs');

function closed(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isJsonObject(schema)) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value ?? null)]));
  return isJsonObject(schema.properties) ? { additionalProperties: false, ...inner } : inner;
}

/** What is wrong with an output, by the schema of that name. */
function faults(name: string, output: unknown): readonly unknown[] {
  const check = checker.getSchema(`outputs#/$defs/${name}`) as ValidateFunction | undefined;
  if (check === undefined) return [`docs/output.schema.json has no schema '${name}'.`];
  if (check(output)) return [];
  // An alternative that it was not meant to be fails early.
  const deepest = [...(check.errors ?? [])].sort((one, other) => depthOf(other) - depthOf(one));
  return [output, ...deepest.slice(0, 3)];
}

const depthOf = ({ instancePath }: ErrorObject): number => instancePath.split('/').length;

/** The commands that print JSON, by the words that run them. */
function printers(command: Command, words: readonly string[] = []): readonly string[] {
  const own = command.options.some(({ long }) => long === '--json') && words.length > 0 ? [words.join('-')] : [];
  return [...own, ...command.commands.flatMap((one) => printers(one, [...words, one.name()]))];
}

let talk: Compacting;
/** The commands that were run. */
const ran = new Set<string>();

const lines = (text: string): readonly unknown[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Runs a command with `--json`; its output has its schema, or is a failure where `status` is not 0. */
async function json(args: readonly string[], name: string = args[0] ?? '', status = 0): Promise<JsonValue> {
  const run = await talk.hi([...args, '--json']);
  expect({ args, status: run.status, stderr: status === 0 && run.status !== 0 ? run.stderr : '' }).toEqual({
    ...{ args, status, stderr: '' },
  });
  const output = JSON.parse(run.stdout);
  expect(faults(status === 0 ? name : 'error', output)).toEqual([]);
  if (status === 0) ran.add(name);
  return output;
}

const said = (text: string) => ({ text, usage: [2600, 12] as const });

beforeAll(async () => {
  const priced = { input_tokens: 100_000, output_tokens: 10_000, cached_tokens: 500, context_tokens: 110_000 };
  const entries = turns(10).map((message, index) =>
    index === 1
      ? {
          ...message,
          ...{ provider: 'anthropic', model: 'claude-sonnet-4-5', usage: { ...priced, billing: { web_searches: 2 } } },
          sources: [{ url: 'https://example.org/', title: 'Cats', cited: ['a cat'] }],
        }
      : message,
  );
  talk = await compacting({
    entries,
    answer: (request) => {
      const last = request.messages.at(-1);
      const text = JSON.stringify(last?.content);
      if (last?.role === 'tool') return said('It says hello.');
      if (text.includes('refuse')) return { status: 400, error: { message: 'no such thing' } };
      if (text.includes('both'))
        return {
          thinking: 'Two tools.',
          text: 'Let me see.',
          calls: [
            { name: 'bash', args: { command: 'echo hello' } },
            { name: 'read_file', args: { path: 'missing.txt' } },
            { name: 'mcp__notes__add', args: { text: 'x' } },
          ],
        };
      return request.response_format === undefined ? said('ok') : said('{"name":"Ann"}');
    },
  });
  const notes = toolServer(talk.home.folder, 'notes', {
    tools: [textTool('add')],
    prompts: [{ name: 'plan', description: 'Plans.', arguments: [{ name: 'day', required: true }] }],
    resources: [{ uri: 'notes://one', name: 'one' }],
    instructions: 'Be short.',
  });
  const config = JSON.parse(readFileSync(talk.home.configFile, 'utf8'));
  talk.home.writeConfig(
    JSON.stringify({
      ...config,
      tools: { enabled: true, permissions: { allow: ['bash', 'read_file', 'mcp__notes__add'], ask: [], deny: [] } },
      servers: { second: { provider: 'openai', api_base: config.api_base, model: 'other', context_window: 4000 } },
      mcpServers: { notes: notes.entry, off: { command: 'nothing', disabled: true } },
    }),
  );
  mkdirSync(join(talk.home.config, 'skills'));
  writeFileSync(
    join(talk.home.config, 'skills', 'git.md'),
    '---\ndescription: Writes commits.\n---\nShort subjects.\n',
  );
  writeFileSync(join(talk.home.config, 'skills', 'bad.md'), Buffer.from([0xff, 0x00]));
  const line = { role: 'user' as const, text: 'I always want metric units.', at: Date.UTC(2025, 2, 1) / 1000 };
  const conversations = ['a', 'b', 'c'].map((id) => ({
    ...{ id, title: id },
    lines: [line, { role: 'assistant' as const, text: 'Yes, a zeppelin.', at: null }],
  }));
  talk.home.write('conversations.json', JSON.stringify(conversations.map((one) => chatgptConversation(one))));
});
afterAll(async () => await talk[Symbol.asyncDispose]());

describe('docs/output.schema.json', () => {
  it('has the answers of models', async () => {
    expect(await json(['compact', '--dry-run'], 'compact')).toMatchObject({ preview: { strategy: expect.anything() } });
    const first = await json(['ask', LAST_STRAW]);
    expect(first).toMatchObject({ compaction: { source: 'model' }, text: 'ok' });
    const fitting = await json(['ask', '--ephemeral', '--schema', 'name', 'who?']);
    expect(fitting).toMatchObject({ data: { name: 'Ann' }, turn: null });
    const several = ['ask', '-m', 'main', '-m', 'second', 'two?'];
    expect(await json(several)).toHaveLength(2);
    const { stdout } = await talk.hi([...several, '-o', 'stream-json']);
    expect(lines(stdout).map((line) => faults('reply_event', line))).toEqual([[], [], []]);
  });

  it('has every event of a turn', async () => {
    const { stdout } = await talk.hi(['ask', '-o', 'stream-json', '--think', 'low', 'both tools']);
    const events = lines(stdout) as readonly { readonly type: string }[];
    for (const event of events) expect(faults('ask_event', event)).toEqual([]);
    expect(events.at(-1)).toMatchObject({
      type: 'result',
      tool_calls: [{ result: expect.anything() }, { error: expect.anything() }, { result: expect.anything() }],
    });
    const kinds = ['request', 'thinking', 'text', 'tool-start', 'tool-output', 'tool-end', 'usage'];
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(kinds));
  });

  it('names the events and the codes of errors that the source has', () => {
    const source =
      readFileSync('lib/chat/event.ts', 'utf8').split('export type ChatEvent =')[1]?.split('\n\n')[0] ?? '';
    const types = [...source.matchAll(/readonly type: '([a-z-]+)'/g)].map(([, type]) => type);
    const shown = types.filter((type) => type !== 'print' && type !== 'entry');
    const described = SCHEMAS.$defs.ask_event.anyOf.map(
      (one: JsonValue) => JSON.parse(JSON.stringify(one)).properties.type.const,
    );
    expect([...described].sort()).toEqual(shown.map((type) => (type === 'turn-end' ? 'result' : type)).sort());
    expect([...SCHEMAS.$defs.error.properties.error.properties.code.enum].sort()).toEqual(
      Object.keys(EXIT_STATUS).sort(),
    );
  });

  it('has failures', async () => {
    await Promise.all([json(['ask', 'refuse'], 'ask', 5), json(['recall'], 'recall', 2)]);
  });

  it('has the conversation, what is searched in it, and what it cost', async () => {
    const [history, found, ...usage] = await Promise.all([
      json(['history']),
      json(['recall', 'question 3']),
      json(['usage', '--by', 'month']),
      json(['usage', '--by', 'server']),
      json(['status']),
    ]);
    expect(history).toContainEqual(expect.objectContaining({ type: 'compress' }));
    for (const rows of [found, ...usage]) expect(rows).not.toEqual([]);
    expect(await json(['compact'])).toMatchObject({ compaction: { strategy: expect.anything() } });
  });

  it('has what is remembered, forgotten and imported', async () => {
    await talk.hi(['remember', 'Call me Ann.']);
    expect(await json(['memory'])).toMatchObject([{ text: 'Call me Ann.', by: 'user' }]);
    expect(await json(['import', 'conversations.json'])).toMatchObject([{ name: 'chatgpt', threads: 3 }]);
    const [books, proposals, , found] = await Promise.all([
      json(['import', '--list']),
      json(['import', '--review']),
      json(['history', '--in', 'chatgpt']),
      json(['recall', 'zeppelin', '--in', 'chatgpt']),
    ]);
    expect(books).toMatchObject([{ name: 'chatgpt', messages: 6 }]);
    expect(proposals).not.toEqual([]);
    expect(found).toContainEqual(expect.objectContaining({ book: 'chatgpt', role: 'assistant' }));
    cpSync(talk.home.historyFile, join(talk.home.work, 'old.json.zst'));
    expect(await json(['import', 'old.json.zst'])).toMatchObject([{ added: 0 }]);
    expect(await json(['forget', '-y', '#1'], 'forget')).toMatchObject({ messages: [1] });
    expect(await json(['forget', '-y', 'nowhere said'], 'forget')).toEqual({ messages: [], receipt: [] });
    expect(await json(['forget', '-y', '#2', '--in', 'chatgpt'], 'forget')).toMatchObject({ messages: [2] });
  });

  it('has the state of this machine', async () => {
    const [all, one] = await Promise.all([
      json(['skills']),
      json(['skills', 'git']),
      json(['config', 'path'], 'config-path'),
    ]);
    expect(all).toMatchObject({ skills: [{ name: 'git' }] });
    expect(one).toMatchObject({ skill: { name: 'git' } });
    await json(['share', join(talk.home.folder, 'shared'), '--name', 'laptop']);
    expect(await json(['share', '--key'])).toMatchObject({ key: expect.any(String) });
  });

  it('has the servers of tools', async () => {
    expect(await json(['mcp', 'test', 'notes', '--call', 'add={"text":"x"}'], 'mcp-test')).toMatchObject({
      ...{ tools: [{ name: 'add' }], prompts: [{ name: 'plan' }], resources: [{ name: 'one' }] },
      result: { is_error: false },
    });
    await json(['mcp', 'list'], 'mcp-list');
  });

  it('has every command with --json, and each of them was run above', () => {
    expect([...ran].sort()).toEqual([...printers(makeProgram(emptyWorld(), () => undefined))].sort());
  });
});
