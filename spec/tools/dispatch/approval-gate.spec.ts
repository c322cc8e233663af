import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Approval, ApprovalQuestion } from '../../../lib/tools/common/tool.js';
import { type Bench, bench, resultOf, runnerOn } from '../../support/tool-runner.js';

const WORKS = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', 'true']).status === 0;

let place: Bench;
let outside: string;
beforeEach(() => {
  place = bench();
  outside = join(dirname(place.folder), '.ssh');
  mkdirSync(outside);
  writeFileSync(join(outside, 'id_rsa'), 'the key');
});
afterEach(() => place.remove());

const file = (name: string): string => join(place.folder, name);

/** Answers yes, and does something else before the first answer. */
function approving(meanwhile: () => void): {
  asked: ApprovalQuestion[];
  approve(question: ApprovalQuestion): Promise<Approval>;
} {
  const asked: ApprovalQuestion[] = [];
  return {
    asked,
    approve: async (question) => {
      asked.push(question);
      if (asked.length === 1) meanwhile();
      return asked.length === 1 ? { answer: 'once' } : { answer: 'no' };
    },
  };
}

describe("hi's own settings", () => {
  it('are asked about even if they are links into the working folder', async () => {
    mkdirSync(file('dotfiles'));
    writeFileSync(file('dotfiles/config.json'), '{"api_key":"k"}');
    writeFileSync(file('notes.md'), 'notes');
    const settings = join(dirname(place.folder), 'settings');
    symlinkSync(file('dotfiles'), settings);
    const { one, questions } = runnerOn(place, { ownPlaces: [settings], answer: { answer: 'no' } });
    for (const path of ['dotfiles/config.json', './dotfiles/../dotfiles/config.json', join(settings, 'config.json')])
      expect([path, (await one('read_file', { path })).error]).toEqual([path, 'The user said no.']);
    expect(questions.map(({ reason }) => reason.slice(0, 39))).toEqual(
      Array(3).fill("it is hi's own configuration or history"),
    );
    expect((await one('read_file', { path: 'notes.md' })).error).toBeUndefined();
  });
});

describe('a file that changes between the question and the run', () => {
  it('is asked about again if it has become a link', async () => {
    const { asked, approve } = approving(() => symlinkSync(join(outside, 'id_rsa'), file('x.txt')));
    const { one } = runnerOn(place, { approve });
    expect((await one('write_file', { path: 'x.txt', content: 'new' })).error).toBe('The user said no.');
    expect(readFileSync(join(outside, 'id_rsa'), 'utf8')).toBe('the key');
    expect(asked[1]?.reason).toContain(`it leads to ${join(outside, 'id_rsa')}`);
  });

  it('is asked about again if its content has changed, and shown in its new form', async () => {
    writeFileSync(file('x.txt'), 'one\n');
    const { asked, approve } = approving(() => writeFileSync(file('x.txt'), 'another\n'));
    const { one } = runnerOn(place, { approve });
    await one('write_file', { path: 'x.txt', content: 'new\n' });
    expect(asked.map(({ preview }) => /-(\w+)/.exec(preview.text.split('@@')[2] ?? '')?.[1])).toEqual([
      'one',
      'another',
    ]);
    expect(readFileSync(file('x.txt'), 'utf8')).toBe('another\n');
  });

  it('is asked about again if its folder has become a link', async () => {
    mkdirSync(file('sub'));
    const { asked, approve } = approving(() => {
      renameSync(file('sub'), file('away'));
      symlinkSync(outside, file('sub'));
    });
    const { one } = runnerOn(place, { approve });
    await one('write_file', { path: 'sub/authorized_keys', content: 'evil' });
    expect(asked).toHaveLength(2);
    expect(existsSync(join(outside, 'authorized_keys'))).toBe(false);
  });

  it.each([
    './s.sh',
    'bash s.sh',
    '. ./s.sh',
    'cd sub && ../s.sh',
    'env A=1 sh -e s.sh',
    'ls && ./s.sh || ls',
    'x=$(./s.sh)',
    'node s.sh',
  ])('is asked about again if it is the script that %s runs', async (command) => {
    mkdirSync(file('sub'));
    writeFileSync(file('s.sh'), '#!/bin/sh\ntouch harmless\n', { mode: 0o755 });
    const { asked, approve } = approving(() => writeFileSync(file('s.sh'), '#!/bin/sh\ntouch pwned123\n'));
    const { run, call } = runnerOn(place, { approve });
    const { events } = await run([call('bash', { command })]);
    expect(asked).toHaveLength(2);
    expect(events).toContainEqual({
      type: 'notice',
      level: 'warning',
      text: expect.stringMatching(/\/s\.sh changed while you were being asked\. Check it again\.$/),
    });
    expect(existsSync(file('pwned123'))).toBe(false);
  });

  it('runs with "always" only as shown in the last question, and is given up if it keeps changing', async () => {
    let count = 0;
    const approve = async (): Promise<Approval> => {
      count += 1;
      writeFileSync(file('s.sh'), `touch pwned # ${count}`);
      return { answer: 'always' };
    };
    const { one } = runnerOn(place, { approve });
    expect((await one('bash', { command: 'sh s.sh' })).error).toBe('Not run: the file keeps changing.');
    expect(existsSync(file('pwned'))).toBe(false);
  });

  it.each(['cat s.sh; touch ran', 'touch ran; : s.sh'])(
    'is not asked about again where %s only names it',
    async (command) => {
      const { asked, approve } = approving(() => writeFileSync(file('s.sh'), 'another'));
      await runnerOn(place, { approve }).one('bash', { command });
      expect(asked).toHaveLength(1);
      expect(existsSync(file('ran'))).toBe(true);
    },
  );

  it('is never read as another one, however fast it is swapped', async () => {
    writeFileSync(file('notes.txt'), 'harmless');
    symlinkSync('notes.txt', file('x'));
    mkdirSync(file('d'));
    writeFileSync(file('d/id_rsa'), 'harmless');
    const flip = `while :; do ln -sfn ../.ssh/id_rsa x; ln -sfn notes.txt x; mv -T d e; ln -sn ../.ssh d; rm d; mv -T e d; done 2>/dev/null`;
    const flipping = spawn('bash', ['-c', flip], { cwd: place.folder, stdio: 'ignore', detached: true });
    const { run, call } = runnerOn(place);
    const results: string[] = [];
    for (let round = 0; round < 60; round += 1) {
      const paths = ['x', 'd/id_rsa', 'x', 'd/id_rsa', 'x'];
      const done = await run(paths.map((path) => call('read_file', { path })));
      results.push(JSON.stringify(done.results));
    }
    process.kill(-(flipping.pid ?? 0), 'SIGKILL');
    expect(results.join()).not.toContain('the key');
    expect(results.join()).toContain('harmless');
  });
});

describe('a command that the sandbox stops', () => {
  it('is asked about, and "always" lets it write in the sandbox from then on', async () => {
    const permissions = { allow: ['bash(touch made && touch ../too)'], ask: [], deny: [] };
    const command = 'touch made && touch ../too';
    const { one, questions, remembered } = runnerOn(place, { permissions, answer: { answer: 'always' } });
    expect((await one('bash', { command })).error).toBe(undefined);
    expect([existsSync(file('made')), existsSync(join(dirname(place.folder), 'too'))]).toEqual([true, true]);
    if (!WORKS) return;
    expect(questions[0]).toMatchObject({
      reason: expect.stringContaining('it wanted to write to the disk'),
      rule: `bash(${command}), may write`,
    });
    expect(remembered).toEqual([{ rule: `bash(${command})`, folder: place.folder, write: true }]);
    rmSync(file('made'));
    rmSync(join(dirname(place.folder), 'too'));
    await one('bash', { command });
    expect([existsSync(file('made')), existsSync(join(dirname(place.folder), 'too'))]).toEqual([true, false]);
  });

  it('does not include one that reads a private file, which is empty', async () => {
    writeFileSync(file('.env'), 'KEY=secret');
    writeFileSync(file('a.txt'), 'the KEY');
    const permissions = { allow: ['bash(grep:*)'], ask: [], deny: [] };
    const { one, questions } = runnerOn(place, { permissions, answer: { answer: 'no' } });
    const done = await one('bash', { command: 'grep -r KEY . --color=never' });
    if (WORKS) expect(resultOf(done)).toEqual({ stdout: './a.txt:the KEY\n', stderr: '', exit_code: 0 });
    expect(questions).toHaveLength(WORKS ? 0 : 1);
  });

  it('is reported, with the rule that would help, if nobody can be asked', async () => {
    const permissions = { allow: ['bash(touch made)'], ask: [], deny: [] };
    const { one } = runnerOn(place, { permissions });
    const done = await one('bash', { command: 'touch made' });
    expect(existsSync(file('made'))).toBe(false);
    if (WORKS)
      expect(resultOf(done).note).toContain(`{"rule":"bash(touch made)","folder":"${place.folder}","write":true}`);
  });

  it('may write the file that it redirects to if a rule for writing allows it, and no other', async () => {
    mkdirSync(file('out'));
    const permissions = { allow: ['bash(make:*)', 'bash(echo:*)', 'write_file(out/*)'], ask: [], deny: [] };
    writeFileSync(file('Makefile'), 'all:\n\techo made; touch other\n');
    const { one } = runnerOn(place, { permissions });
    await one('bash', { command: 'make > out/log' });
    expect([existsSync(file('out/log')), existsSync(file('other'))]).toEqual([WORKS, false]);
  });
});

describe('a rule with a folder', () => {
  it('applies in that folder alone', async () => {
    const rule = (folder: string) => ({ rule: 'write_file(*.txt)', folder });
    const ask = async (folder: string) => {
      const permissions = { allow: [rule(folder)], ask: [], deny: [] };
      return (
        (await runnerOn(place, { permissions }).one('write_file', { path: 'a.txt', content: '' })).error === undefined
      );
    };
    symlinkSync(place.folder, join(dirname(place.folder), 'link'));
    const folders = [
      place.folder,
      join(dirname(place.folder), 'link'),
      dirname(place.folder),
      join(place.folder, 'sub'),
      '/nowhere',
    ];
    const held: boolean[] = [];
    for (const folder of folders) held.push(await ask(folder));
    expect(held).toEqual([true, true, false, false, false]);
  });
});
