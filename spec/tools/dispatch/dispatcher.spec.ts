import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { toolCall } from '../../../lib/providers/common/streamed-answer.js';
import { type ToolRunnerOptions, tools } from '../../../lib/tools/index.js';
import { type Bench, bench, runnerOn } from '../../support/tool-runner.js';

let place: Bench;
beforeEach(() => {
  place = bench();
});
afterEach(() => place.remove());

describe('the tool runner', () => {
  it('describes the tools to the model with their schemas', () => {
    const { runner } = runnerOn(place);
    expect(runner.specs.map(({ name }) => name)).toEqual([
      'bash',
      'list_files',
      'read_file',
      'write_file',
      'edit_file',
      'recall',
      'remember',
    ]);
    expect(runner.specs.every(({ parameters }) => parameters.type === 'object')).toBe(true);
  });

  it('runs calls in order and returns one result for each', async () => {
    const { run, call } = runnerOn(place, { allowAll: true });
    const { results, events } = await run([
      call('write_file', { path: 'a/b.txt', content: 'hello\n' }),
      call('read_file', { path: 'a/b.txt' }),
      call('list_files', { path: '.' }),
      call('bash', { command: 'cat a/b.txt; exit 3' }),
    ]);
    expect(results.map(({ result }) => result)).toEqual([
      { success: true, created: true },
      { content: 'hello\n', total_lines: 1 },
      { entries: ['a/'] },
      { stdout: 'hello\n', stderr: '', exit_code: 3 },
    ]);
    expect(results.map(({ call_id }) => call_id)).toEqual(['call-1', 'call-2', 'call-3', 'call-4']);
    expect(events.filter(({ type }) => type !== 'tool-output').map(({ type }) => type)).toEqual(
      Array.from({ length: 4 }, () => ['tool-start', 'tool-end']).flat(),
    );
  });

  it('answers a call of an unknown tool with the nearest name', async () => {
    expect(await runnerOn(place).one('read_fle', { path: 'x' })).toMatchObject({
      error: expect.stringContaining("Did you mean 'read_file'?"),
    });
  });

  it('names every wrong argument and what is expected', async () => {
    const { error } = await runnerOn(place).one('read_file', { pth: 'x', offset: 0 });
    expect(error).toContain("'path' is missing");
    expect(error).toContain("unknown argument 'pth'");
    expect(error).toContain("'offset' must be >= 1, got 0");
    expect(error).toContain('{path, offset?, limit?}');
  });

  it('reports arguments that are nested too deeply', async () => {
    const { run, call } = runnerOn(place, { allowAll: true });
    const text = `{"command":${'['.repeat(6000)}${']'.repeat(6000)}}`;
    const { results } = await run([{ ...call('bash', {}), ...toolCall('call-1', 'bash', text) }]);
    expect(results[0]?.error).toBe('The arguments of bash are nested deeper than 100 levels.');
  });

  it('does not run a call whose arguments were not JSON', async () => {
    const { run, call } = runnerOn(place, { allowAll: true });
    const { results } = await run([{ ...call('bash', {}), invalid_args: '{"command": "touch x' }]);
    expect(results[0]?.error).toContain('{"command": "touch x');
    expect(existsSync(join(place.folder, 'x'))).toBe(false);
  });

  it('treats "ask" as no if nobody can be asked, and tells user and model', async () => {
    const { run, call } = runnerOn(place);
    const { results, events } = await run([call('bash', { command: 'touch x' })]);
    expect(results[0]?.error).toContain('the user cannot be asked here');
    expect(events).toContainEqual({ type: 'notice', level: 'warning', text: expect.stringContaining('bash touch x') });
    expect(existsSync(join(place.folder, 'x'))).toBe(false);
  });

  it('runs after "once" and asks again the next time', async () => {
    const { run, call, questions } = runnerOn(place, { answer: { answer: 'once' } });
    await run([call('bash', { command: 'touch x' }), call('bash', { command: 'touch x' })]);
    expect(existsSync(join(place.folder, 'x'))).toBe(true);
    expect(questions).toHaveLength(2);
    expect(questions[0]?.preview).toEqual({ kind: 'command', text: 'touch x' });
  });

  it('stores an "always" and does not ask again', async () => {
    mkdirSync(join(place.folder, 'src'));
    const { run, call, questions, remembered } = runnerOn(place, { answer: { answer: 'always' } });
    await run([
      call('write_file', { path: 'src/a.ts', content: 'a' }),
      call('write_file', { path: 'src/b.ts', content: 'b' }),
    ]);
    expect(remembered).toEqual([{ rule: `write_file(${place.folder}/src/*)`, folder: place.folder }]);
    expect(questions).toHaveLength(1);
  });

  it('continues if an "always" cannot be stored, with a notice', async () => {
    const { run, call } = runnerOn(place, {
      answer: { answer: 'always' },
      storeRule: () => Promise.reject(new Error('read-only')),
    });
    const { results, events } = await run([call('write_file', { path: 'a.ts', content: 'a' })]);
    expect(results[0]?.result).toMatchObject({ success: true });
    expect(events).toContainEqual({ type: 'notice', level: 'warning', text: expect.stringContaining('read-only') });
  });

  it('tells the model the reason for a "no"', async () => {
    const { one } = runnerOn(place, { answer: { answer: 'no', reason: 'use pnpm' } });
    expect((await one('bash', { command: 'npm i' })).error).toBe('The user said no: use pnpm');
  });

  it('shows a write as a diff', async () => {
    writeFileSync(join(place.folder, 'a.txt'), 'one\ntwo\n');
    const { one, questions } = runnerOn(place, { answer: { answer: 'no' } });
    await one('write_file', { path: 'a.txt', content: 'one\n2\n' });
    expect(questions[0]?.preview).toEqual({ kind: 'diff', text: expect.stringContaining('-two\n+2\n') });
    expect(readFileSync(join(place.folder, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
  });

  it('refuses what a deny rule names, even if everything else is allowed', async () => {
    const permissions: ToolRunnerOptions['permissions'] = {
      allow: ['write_file'],
      ask: [],
      deny: ['write_file(*.lock)'],
    };
    const { one } = runnerOn(place, { allowAll: true, permissions });
    expect((await one('write_file', { path: 'a/b.lock', content: '' })).error).toContain(
      "'write_file(*.lock)' forbids it",
    );
    expect((await one('write_file', { path: 'a/b.txt', content: '' })).result).toMatchObject({ success: true });
  });

  it('asks if an ask rule applies though an allow rule does too', async () => {
    const permissions = { allow: ['write_file'], ask: ['write_file(docs/*)'], deny: [] };
    const { one, questions } = runnerOn(place, { answer: { answer: 'no' }, permissions });
    await one('write_file', { path: 'docs/a/b.md', content: '' });
    expect(questions.map(({ reason, rule }) => ({ reason, rule }))).toEqual([
      { reason: "the rule 'write_file(docs/*)' says to ask", rule: null },
    ]);
  });

  it.each([
    ['Bash(git:*)', "Did you mean 'bash'?"],
    ['bash(', 'does not begin with the name of a tool'],
    ['write_file()', 'has empty parentheses'],
    ['read_file(!*.md)', "has a pattern that is not supported: '!'"],
  ])('refuses the invalid rule %s', (rule, words) => {
    const permissions = { allow: [], ask: [], deny: [rule] };
    const thrown = (() => {
      try {
        runnerOn(place, { permissions });
        return null;
      } catch (failure) {
        return failure;
      }
    })();
    expect(`${thrown} ${JSON.stringify(thrown)}`).toContain(words);
  });

  it('keeps the rules for a tool that is not offered, which cover what commands do', async () => {
    const permissions = { allow: ['bash'], ask: [], deny: ['read_file(secret/*)'] };
    const offered = tools.filter(({ name }) => name === 'bash');
    expect(() => runnerOn(place, { tools: offered, permissions })).toThrow('does not begin with the name of a tool');
    const { one } = runnerOn(place, { tools: offered, ruleSubjects: tools, permissions });
    expect((await one('bash', { command: 'cat secret/x' })).error).toContain(
      "the rule 'read_file(secret/*)' forbids it",
    );
  });

  it('answers every call of an interrupted run', async () => {
    const { run, call } = runnerOn(place, { allowAll: true });
    const stop = new AbortController();
    const running = run(
      [call('bash', { command: 'touch started; sleep 30' }), call('bash', { command: 'touch second' })],
      stop.signal,
    );
    while (!existsSync(join(place.folder, 'started'))) await new Promise((resolve) => setTimeout(resolve, 10));
    stop.abort();
    const { results } = await running;
    expect(results.map(({ error }) => error)).toEqual(['interrupted', 'interrupted']);
    expect(existsSync(join(place.folder, 'second'))).toBe(false);
  });

  it('points out a call that fails in the same way, from the third time in a row', async () => {
    const { one, runner } = runnerOn(place, { allowAll: true });
    const failing = () => one('bash', { command: 'exit 7' });
    const notes = [await failing(), await failing(), await failing()].map(({ result }) => JSON.stringify(result));
    expect(notes.map((text) => text.includes('3 times in a row'))).toEqual([false, false, true]);
    await runner.endTurn();
    expect(JSON.stringify(await failing())).not.toContain('in a row');
    await one('read_file', { path: 'none' });
    await one('read_file', { path: 'none' });
    expect((await one('read_file', { path: 'none' })).error).toContain('3 times in a row');
  });

  it('hides configured keys and known shapes in results, events and errors', async () => {
    const secrets = ['correct-horse-battery'];
    const { run, call } = runnerOn(place, { allowAll: true, secrets });
    const key = `sk-ant-api03-${'x'.repeat(40)}`;
    writeFileSync(join(place.folder, 'keys.txt'), `a=correct-horse-battery\nb=${key}\n`);
    const ran = await run([
      call('read_file', { path: 'keys.txt' }),
      call('bash', { command: 'cat keys.txt; cat keys.txt >&2' }),
      call('read_file', { path: 'correct-horse-battery' }),
    ]);
    const everything = JSON.stringify([ran.results, ran.events.filter(({ type }) => type !== 'tool-start')]);
    expect(everything).not.toContain('correct-horse-battery');
    expect(everything).not.toContain(key);
    expect(everything).toContain('[secret hidden by hi]');
  });

  it('does not write the placeholder of a hidden secret over the secret', async () => {
    writeFileSync(join(place.folder, 'a.ts'), 'const key = 1');
    const { one } = runnerOn(place, { allowAll: true });
    const { error } = await one('write_file', { path: 'a.ts', content: 'const key = "[secret hidden by hi]"' });
    expect(error).toContain('stands for a secret');
    expect(readFileSync(join(place.folder, 'a.ts'), 'utf8')).toBe('const key = 1');
  });

  it('runs no command and makes no edit that contains the placeholder of a hidden secret', async () => {
    writeFileSync(join(place.folder, 'a.ts'), 'const key = 1');
    const { one } = runnerOn(place, { allowAll: true });
    const command = 'touch ran; curl -H "Authorization: Bearer [secret hidden by hi]" http://127.0.0.1:9/';
    expect((await one('bash', { command })).error).toContain('stands for a secret');
    expect(existsSync(join(place.folder, 'ran'))).toBe(false);
    const edit = { path: 'a.ts', old: 'const key = 1', new: 'const key = "[secret hidden by hi]"' };
    expect((await one('edit_file', edit)).error).toContain('stands for a secret');
    expect(readFileSync(join(place.folder, 'a.ts'), 'utf8')).toBe('const key = 1');
  });

  it('reads a file whose name contains the placeholder of a hidden secret', async () => {
    writeFileSync(join(place.folder, '[secret hidden by hi].txt'), 'words');
    const { one } = runnerOn(place, { allowAll: true });
    expect((await one('read_file', { path: '[secret hidden by hi].txt' })).result).toMatchObject({ content: 'words' });
  });

  it('stops the running call if its reader stops reading', async () => {
    const { runner, call } = runnerOn(place, { allowAll: true });
    const running = runner.run(
      [call('bash', { command: 'echo $$ > pid; while :; do echo x; sleep 0.05; done' })],
      new AbortController().signal,
    );
    for await (const event of running) if (event.type === 'tool-output') break;
    const pid = Number(readFileSync(join(place.folder, 'pid'), 'utf8'));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(() => process.kill(pid, 0)).toThrow();
  });
});
