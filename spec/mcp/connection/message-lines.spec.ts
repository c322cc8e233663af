import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { MessageLines } from '../../../lib/mcp/connection/process-transport.js';
import { ServerLog } from '../../../lib/mcp/connection/spawn-server.js';
import { readOffer } from '../../../lib/mcp/definitions/read-offer.js';
import { textTool } from '../../support/tool-server.js';

const folder = mkdtempSync(join(tmpdir(), 'hi-lines-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The messages that these lines are. */
function messagesOf(...lines: readonly unknown[]): readonly unknown[] {
  const taken: unknown[] = [];
  const read = new MessageLines(
    (message) => taken.push(message),
    new ServerLog(folder, 'one'),
    () => {},
  );
  for (const line of lines) read.take(Buffer.from(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`));
  return taken;
}

const refused = (id: number | string) =>
  expect.objectContaining({ id, error: expect.objectContaining({ message: expect.stringContaining('not one of') }) });

describe('a line of a server', () => {
  it('is a message, or else a line of its log', () => {
    const message = { jsonrpc: '2.0', id: 1, result: { content: [] } };
    expect(messagesOf('hello', message, { level: 30, msg: 'ready' }, '[1]', 'null')).toEqual([message]);
  });

  it('with an answer that is none of the protocol, or a batch of answers, refuses what was asked', () => {
    expect(messagesOf({ jsonrpc: '2.0', id: 7, result: null })).toEqual([refused(7)]);
    const result = { content: [] };
    expect(messagesOf([{ jsonrpc: '2.0', id: 'a', result }, { jsonrpc: '2.0', id: 8, result }, 'x'])).toEqual([
      refused('a'),
      refused(8),
    ]);
    expect(messagesOf({ jsonrpc: '2.0', id: null, result: null }, { jsonrpc: '2.0', method: 7 })).toEqual([]);
  });
});

it('a tool that runs only as a task is not offered, and the server is said to have one', () => {
  const tasks = { ...textTool('research'), execution: { taskSupport: 'required' } };
  const either = { ...textTool('look'), execution: { taskSupport: 'optional' } };
  const others = { prompts: [], resources: [], templates: [], instructions: '', prior: null, expires: null };
  const { tools, problems } = readOffer({ tools: [tasks, either], ...others });
  expect(tools.map(({ name }) => name)).toEqual(['look']);
  expect(problems).toEqual(['1 of its 2 tools were left out: they run only as tasks, which hi does not have.']);
});
